/** How many requests a vendor gets for one reply of an agent, and when, over real sockets. */
import { defineAgent } from "@millrace/agent";
import type { RunEvent } from "@millrace/core";
import { openai } from "@millrace/providers/openai";
import { startVendorServer } from "@millrace/providers/testing";
import type { VendorReply } from "@millrace/providers/testing";
import { describe, expect, it } from "vitest";

const retry = { attempts: 4, baseMs: 40, capMs: 2_000 };
/** No wait between attempts is longer than a part of a bound that doubles. */
const bounds = [40, 80, 160];

interface Asked {
  readonly requests: number;
  /** Between one request and the next, in milliseconds. */
  readonly waits: readonly number[];
  readonly events: readonly RunEvent["type"][];
  readonly delays: readonly number[];
  readonly outcome: string;
  readonly cause: string | undefined;
}

/** Runs an agent whose vendor always answers alike. The provider's own policy would make it 3 times as many. */
async function ask(vendor: VendorReply, policy = retry): Promise<Asked> {
  const times: number[] = [];
  await using server = await startVendorServer({
    replies: () => {
      times.push(performance.now());
      return vendor;
    },
  });
  const model = openai("gpt-test", {
    baseUrl: `${server.url}/v1`,
    apiKey: "k",
    retry: { attempts: 3, baseMs: 1, capMs: 5 },
    // Only a vendor that never answers is given up: a busy machine may take long for the others.
    timeouts: "headersDelayMs" in vendor ? { firstByteMs: 150 } : {},
  });
  const run = defineAgent({ model, retry: policy }).run("hi");
  const events: RunEvent["type"][] = [];
  const delays: number[] = [];
  for await (const event of run) {
    events.push(event.type);
    if (event.type === "retry_scheduled") delays.push(event.delayMs);
  }
  const result = await run.result;
  return {
    requests: server.requests.length,
    waits: times.slice(1).map((time, at) => time - (times[at] ?? 0)),
    events,
    delays,
    outcome: result.outcome,
    cause: result.outcome === "failed" ? result.cause?.code : undefined,
  };
}

const vendors: readonly {
  readonly name: string;
  readonly vendor: VendorReply;
  readonly cause: string;
  /** What each request takes before it has failed. */
  readonly takesMs: number;
}[] = [
  {
    name: "answers 503",
    vendor: { status: 503, body: '{"error":{"message":"busy"}}' },
    cause: "overloaded",
    takesMs: 0,
  },
  {
    name: "answers nothing",
    vendor: { body: "", headersDelayMs: Infinity },
    cause: "first_byte_timeout",
    takesMs: 150,
  },
  {
    name: "cuts in the middle",
    vendor: {
      body: 'data: {"id":"r","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hel"}}]}\n\n',
      end: "half_chunk",
    },
    cause: "truncated_transport",
    takesMs: 0,
  },
];

describe("a vendor that", () => {
  it.each(vendors)(
    "$name gets exactly as many requests as the agent's policy says, each visible",
    async ({ vendor, cause, takesMs }) => {
      const asked = await ask(vendor);

      expect(asked.requests).toBe(retry.attempts);
      expect(asked).toMatchObject({ outcome: "failed", cause });
      const seen = (type: string): number => asked.events.filter((one) => one === type).length;
      expect(seen("attempt_started")).toBe(retry.attempts);
      expect(seen("retry_scheduled")).toBe(retry.attempts - 1);
      for (const [at, bound] of bounds.entries()) {
        const delay = asked.delays[at] ?? -1;
        expect(delay).toBeGreaterThanOrEqual(0);
        expect(delay).toBeLessThanOrEqual(bound);
        // What the first of two requests takes, and the wait. The server reads a request a little late.
        expect(asked.waits[at]).toBeGreaterThanOrEqual(0.8 * (takesMs + delay));
      }
      console.log(
        `requests: ${asked.requests}, waits of ${asked.waits.map(Math.round).join(", ")} ms`,
      );
    },
  );

  it("answers 429 is asked again after the delay that it asks for", async () => {
    const vendor = { status: 429, headers: { "retry-after": "1" }, body: "{}" };

    const asked = await ask(vendor, { ...retry, attempts: 2 });

    expect(asked.requests).toBe(2);
    expect(asked.delays[0]).toBeGreaterThanOrEqual(1_000);
    expect(asked.waits[0]).toBeGreaterThanOrEqual(1_000);
    expect(asked.waits[0]).toBeLessThan(1_000 + 40 + 1_500); // a busy machine is late
  });

  it.each([1, 2, 5])(
    "fails %i times at most is requested as often, whatever the provider's own policy is",
    async (attempts) => {
      const vendor = { status: 503, body: "{}" };

      expect((await ask(vendor, { ...retry, attempts, baseMs: 1 })).requests).toBe(attempts);
    },
  );
});
