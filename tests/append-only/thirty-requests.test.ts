/** A session of thirty requests: what a vendor reads from its cache, and what stays as the vendor has seen it. */
import { defineAgent, defineTool } from "@millrace/agent";
import type { AcceptedRequest, StrictVendor } from "@millrace/conformance/vendors";
import type { Json, JsonObject } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { startVendorServer } from "@millrace/providers/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { vendorTargets } from "./vendors.ts";
import type { VendorTarget } from "./vendors.ts";

const doc = "All work and no play makes a model dull. ".repeat(40);
const scenarios = ["plain", "parallel calls", "a date", "a long result", "other words"] as const;
type Scenario = (typeof scenarios)[number];

/** Caches of Claude cost this share of the price of input; nothing is cached by default elsewhere. */
const [readPrice, writePrice] = [0.1, 1.25];

interface Played {
  readonly vendor: StrictVendor;
  readonly prompts: readonly string[];
}

/** Five questions of six requests each: five with calls, and an answer. */
async function play(target: VendorTarget, scenario: Scenario): Promise<Played> {
  let now = 0;
  const prompts: string[] = [];
  const vendor = target.open({ now: () => now });
  await using server = await startVendorServer({
    replies: (request) => {
      now += 5_000;
      return vendor.answer(request, (accepted) => {
        prompts.push(promptOf(accepted));
        return replyTo(accepted, scenario);
      });
    },
  });
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  for (let question = 0; question < 5; question += 1) {
    const words = scenario === "other words" && question > 1 ? "You help gladly." : "You help.";
    const agent = defineAgent({
      model: target.model(target.models[0] ?? "", server.url, "error"),
      instructions:
        scenario === "a date" ? () => `${words} ${doc} Day ${question}.` : `${words} ${doc}`,
      tools: ["weather", "big"].map((name) =>
        defineTool({
          name,
          description: name,
          input: z.object({ n: z.number() }),
          run: ({ n }) => (name === "big" ? "line of output\n".repeat(6_000) : { n, doc }),
        }),
      ),
      limits: { repeats: 60, turns: 60 },
    });
    await using session = await agent.open({ id: "s", store, log });
    const result = await session.send(`Question ${question}. ${doc}`).result;
    expect(result.outcome).toBe("completed");
  }
  expect([vendor.refused, vendor.dropped]).toEqual([[], []]);
  expect(prompts).toHaveLength(30);
  return { vendor, prompts };
}

function replyTo({ number }: AcceptedRequest, scenario: Scenario) {
  const think = `Thought ${number}.`;
  if (number % 6 === 0) return { think, text: `Answer ${number}. ${doc}` };
  const count = scenario === "parallel calls" && number % 6 === 3 ? 13 : 1;
  const name = scenario === "a long result" && number === 10 ? "big" : "weather";
  const calls = Array.from({ length: count }, (_, at) => ({
    name,
    input: { n: number * 100 + at },
  }));
  return { think, calls };
}

/** What the vendor reads, in its order, without marks and without the end of the last list. */
function promptOf({ body }: AcceptedRequest): string {
  return ["tools", "system", "systemInstruction", "instructions", "messages", "contents", "input"]
    .map((name) => JSON.stringify(withoutMarks(body[name] ?? null)))
    .filter((text) => text !== "null")
    .join("\n")
    .replace(/\]$/, "");
}

function withoutMarks(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value as JsonObject).filter(([name]) => name !== "cache_control");
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutMarks(field)]));
}

const anthropic = vendorTargets.filter(({ name }) => name === "anthropic");

test.for(anthropic.flatMap((target) => scenarios.map((scenario) => [scenario, target] as const)))(
  "Claude reads 93 percent of its input from the cache, at 0.18 of the price or less (%s)",
  async ([scenario, target]) => {
    const { bill } = (await play(target, scenario)).vendor;
    const share = bill.read / bill.total;
    const billed = (bill.plain + bill.read * readPrice + bill.write * writePrice) / bill.total;

    console.log(
      `count: cached, ${scenario}: ${(share * 100).toFixed(1)} % of ${bill.total} tokens, billed ${billed.toFixed(3)}`,
    );
    expect(share).toBeGreaterThanOrEqual(0.93);
    expect(billed).toBeLessThanOrEqual(0.18);
  },
);

test.for(
  vendorTargets.flatMap((target) =>
    scenarios.map((scenario) => [target.name, scenario, target] as const),
  ),
)("%s gets each request as the beginning of the next one (%s)", async ([, scenario, target]) => {
  const { prompts } = await play(target, scenario);
  expect(prompts.at(-1)?.length).toBeGreaterThan(40_000);
  const broken = prompts.flatMap((prompt, at) =>
    (prompts[at + 1] ?? prompt).startsWith(prompt) ? [] : [at],
  );

  expect(broken).toEqual([]);
});
