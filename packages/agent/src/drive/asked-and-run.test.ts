import { memorySessionStore } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { callId as callIdOf } from "@millrace/core/writing";
import type { Fact, ViewApproval } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import type { AnyTool, Policy } from "../definition/tool.ts";
import type { Schema } from "@millrace/core/schema";

const euros = z.object({
  amount: z.number().transform((amount) => amount * 100),
  currency: z.string().default("EUR"),
});

interface Seen {
  readonly asked: readonly ViewApproval[];
  readonly ran: readonly unknown[];
  readonly results: readonly string[];
  readonly facts: readonly Fact[];
}

/** Runs one call of a tool with this schema, and allows what is asked. */
async function payWith(
  input: Schema<object, unknown>,
  sent: unknown,
  approve: Policy = "ask",
): Promise<Seen> {
  const asked: ViewApproval[] = [];
  const ran: unknown[] = [];
  const pay = defineTool({
    name: "pay",
    input,
    approve,
    run: (value) => {
      ran.push(structuredClone(value));
      return "paid";
    },
  });
  const store = memorySessionStore();
  const model = scriptedModel([[call("pay", sent)], [say("Done.")]]);
  const agent = defineAgent({ model, tools: [pay as unknown as AnyTool] });
  await using session = await agent.open({ id: "s", store });
  const ask = (approval: unknown): "allow" => {
    asked.push(approval as ViewApproval);
    return "allow";
  };
  await session.send("pay", { ask }).result;
  const facts = await store.read((await store.find("s"))?.uid as never);
  const results = facts.flatMap((fact) =>
    fact.type === "item_committed"
      ? fact.item.parts.flatMap((part) => (part.kind === "tool_result" ? [part.text] : []))
      : [],
  );
  return { asked, ran, results, facts };
}

function factsOfType<Type extends Fact["type"]>(
  facts: readonly Fact[],
  type: Type,
): readonly FactOf<Type>[] {
  return facts.filter((fact): fact is FactOf<Type> => fact.type === type);
}

describe("a question", () => {
  it("shows what runs beside what was sent, where the schema changes the input", async () => {
    const { asked, ran } = await payWith(euros, { amount: 5 });

    expect(ran).toEqual([{ amount: 500, currency: "EUR" }]);
    expect(asked).toMatchObject([
      { input: { amount: 5 }, parsed: { amount: 500, currency: "EUR" } },
    ]);
  });

  it("shows one input where the schema changes nothing but the order of keys", async () => {
    const { asked } = await payWith(z.object({ a: z.number(), b: z.number() }), { b: 1, a: 2 });

    expect(asked).toMatchObject([{ input: { b: 1, a: 2 } }]);
    expect(asked[0]).not.toHaveProperty("parsed");
  });

  it("shows values that are no JSON in a form that names their kind", async () => {
    const schema = z.object({
      at: z.string().transform((text) => new Date(text)),
      ids: z.array(z.string()).transform((ids) => new Set(ids)),
      by: z.record(z.string(), z.number()).transform((by) => new Map(Object.entries(by))),
      cents: z.string().transform((text) => BigInt(text)),
    });
    const { asked } = await payWith(schema, {
      at: "2026-01-02",
      ids: ["a"],
      by: { a: 1 },
      cents: "7",
    });

    expect(asked[0]?.parsed).toEqual({
      at: { $date: "2026-01-02T00:00:00.000Z" },
      ids: { $set: ["a"] },
      by: { $map: [["a", 1]] },
      cents: { $bigint: "7" },
    });
  });

  it("is not asked about what no form shows: the call is refused", async () => {
    class Money {
      readonly #cents: number;
      constructor(cents: number) {
        this.#cents = cents;
      }
      get cents(): number {
        return this.#cents;
      }
    }
    const schema = z.object({ cents: z.number() }).transform(({ cents }) => new Money(cents * 100));
    const { asked, ran, results } = await payWith(schema, { cents: 5 });

    expect(asked).toEqual([]);
    expect(ran).toEqual([]);
    expect(results[0]).toContain("can't be shown");
  });

  it("is about the value that runs, also of a schema that makes another one each time", async () => {
    let count = 0;
    const schema = z.object({ cents: z.number().default(() => (count += 1) * 5) });
    const { asked, ran } = await payWith(schema, {});

    expect(ran).toHaveLength(1);
    expect(asked.map(({ parsed }) => parsed)).toEqual(ran);
  });
});

describe("the hash of a call", () => {
  it("is the same in the question, in the answer and in the intent", async () => {
    const { facts } = await payWith(euros, { amount: 5 });

    const [asked] = factsOfType(facts, "approval_requested");
    const [answer] = factsOfType(facts, "approval_resolved");
    const [intent] = factsOfType(facts, "tool_execution_started");
    expect(asked?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(answer?.hash).toBe(asked?.hash);
    expect(intent?.hash).toBe(asked?.hash);
  });

  it("is in the intent of a call that no person was asked about, too", async () => {
    const { facts } = await payWith(euros, { amount: 5 }, "allow");

    expect(factsOfType(facts, "tool_execution_started")[0]?.hash).toMatch(/^[0-9a-f]{64}$/);
  });
});

it("an answer about another hash allows nothing, and the call is denied", async () => {
  let ran = 0;
  const pay = defineTool({
    name: "pay",
    input: z.object({}),
    approve: "ask",
    run: () => `paid ${(ran += 1)}`,
  });
  const store = memorySessionStore();
  const model = scriptedModel([[call("pay", {})], [say("Not paid.")]]);
  await using session = await defineAgent({ model, tools: [pay] }).open({ id: "s", store });
  const run = session.send("pay");
  const { approvalId, callId } = await run.until("approval_requested");
  const uid = (await store.find("s"))?.uid as never;
  await store.accept(uid, "forged", {
    type: "approval_resolved",
    approvalId,
    callId: callIdOf(callId),
    decision: "allow",
    hash: "of something else",
  });
  await session.steer("go on").accepted;

  expect(await run.text()).toBe("Not paid.");
  expect(ran).toBe(0);
});

it("an allowance that names another hash than the question's is refused", async () => {
  const pay = defineTool({ name: "pay", input: z.object({}), approve: "ask", run: () => "paid" });
  const model = scriptedModel([[call("pay", {})], [say("Done.")]]);
  await using session = await defineAgent({ model, tools: [pay] }).open();
  const run = session.send("pay");
  const { approvalId, hash } = await run.until("approval_requested");

  expect(await session.allow(approvalId, { hash: "another" }).accepted).toMatchObject({
    accepted: false,
  });
  expect(await session.allow(approvalId, { hash }).accepted).toEqual({ accepted: true });
});
