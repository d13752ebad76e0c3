/** A summary that its vendor has signed: what the model thought behind it stays valid. */
import { defineAgent } from "@millrace/agent";
import { strictAnthropic } from "@millrace/conformance/vendors";
import type { AcceptedRequest, StrictVendor } from "@millrace/conformance/vendors";
import type { JsonObject } from "@millrace/core";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { anthropic } from "@millrace/providers/anthropic";
import { startVendorServer } from "@millrace/providers/testing";
import { expect, test } from "vitest";

interface Played {
  readonly asked: readonly AcceptedRequest[];
  /** The share of each request's input that was read from the cache. */
  readonly reads: readonly number[];
  readonly outcomes: readonly string[];
}

interface Play {
  readonly vendorOf: (send: number) => StrictVendor;
  readonly modelOf?: (send: number) => string;
  readonly wordsOf?: (send: number) => string;
  readonly compaction?: "auto" | "own";
  /** The send that is stopped while the model thinks. */
  readonly stopped?: number;
  /** 10 if left out. */
  readonly sends?: number;
  /** In tokens. 4,000 if left out. */
  readonly window?: number;
}

/** A session whose context is summarised once or twice. */
async function play(given: Play): Promise<Played> {
  const { vendorOf, modelOf, wordsOf, compaction, stopped, sends = 10, window = 4_000 } = given;
  const asked: AcceptedRequest[] = [];
  const reads: number[] = [];
  let [send, read, total] = [0, 0, 0];
  let stop = (): void => undefined;
  await using server = await startVendorServer({
    replies: (request) => {
      const whole = vendorOf(send).answer(request, (accepted) => {
        const { bill } = vendorOf(send);
        asked.push(accepted);
        reads.push((bill.read - read) / (bill.total - total));
        ({ read, total } = bill);
        return isForSummary(accepted)
          ? { text: "They talked." }
          : { think: "Hm.", text: `Answer ${send}. ${"word ".repeat(400)}` };
      });
      if (send !== stopped || asked.at(-1)?.wantsSummary === true) return whole;
      const text = String(whole.body);
      setTimeout(stop, 10);
      return { ...whole, body: text.slice(0, text.indexOf("signature_delta")), end: "stay_open" };
    },
  });
  const settings = {
    thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } },
  } as const;
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const outcomes: string[] = [];
  for (send = 0; send < sends; send += 1) {
    const name = modelOf?.(send) ?? "claude-opus-5-5";
    const agent = defineAgent({
      model: anthropic(name, { baseUrl: server.url, apiKey: "k", retry: false, settings }),
      instructions: wordsOf?.(send) ?? "Help.",
      context: { window, keep: 4, ...(compaction && { compaction }) },
    });
    await using session = await agent.open({ id: "s", store, log });
    const run = session.send(`go ${send}`);
    stop = () => void run.abort();
    outcomes.push((await run.result).outcome);
  }
  return { asked, reads, outcomes };
}

function isForSummary({ wantsSummary, lastUserText }: AcceptedRequest): boolean {
  return wantsSummary || lastUserText.includes("write the summary");
}

/** The types of the blocks of a request's messages. */
function blocksOf({ body }: AcceptedRequest): readonly string[] {
  const messages = body["messages"] as readonly { readonly content: readonly JsonObject[] }[];
  return messages.flatMap(({ content }) =>
    content.map(({ type }) => (typeof type === "string" ? type : "")),
  );
}

const completed = Array.from({ length: 10 }, () => "completed");

test("the vendor is asked for it, and thinking behind it is neither refused nor dropped", async () => {
  const vendor = strictAnthropic({ now: () => 0 });
  const { asked, outcomes } = await play({ vendorOf: () => vendor });

  expect(outcomes).toEqual(completed);
  expect([vendor.refused, vendor.dropped]).toEqual([[], []]);
  const at = asked.findIndex(({ wantsSummary }) => wantsSummary);
  expect(at).toBeGreaterThan(0);
  const next = asked[at + 1];
  const [first, ...rest] = next === undefined ? [] : blocksOf(next);
  expect(first).toBe("compaction");
  expect(rest).toContain("thinking");
});

test("its input is read from the cache, but for what was said last", async () => {
  const long = { sends: 40, window: 16_000 };
  for (const compaction of ["auto", "own"] as const) {
    const vendor = strictAnthropic({ now: () => 0, leastCached: 1 });
    const { asked, reads } = await play({ vendorOf: () => vendor, compaction, ...long });
    const shares = reads.filter((_, at) => asked[at] !== undefined && isForSummary(asked[at]));

    expect(shares.length).toBeGreaterThan(0);
    for (const share of shares) expect(share).toBeGreaterThanOrEqual(0.9);
  }
});

test.each([0, 1, 2, 3, 4, 5, 6])(
  "thinking stays valid where send %i was stopped before the model had said anything",
  async (stopped) => {
    const vendor = strictAnthropic({ now: () => 0 });
    const { asked, outcomes } = await play({ vendorOf: () => vendor, stopped });

    expect(outcomes).toEqual(completed.with(stopped, "aborted"));
    expect([vendor.refused, vendor.dropped]).toEqual([[], []]);
    expect(asked.some(isForSummary)).toBe(true);
  },
);

test("instructions that it covers are said again", async () => {
  const vendor = strictAnthropic({ now: () => 0 });
  const wordsOf = (send: number): string => (send < 2 ? "Help." : "Help gladly.");
  const { asked, outcomes } = await play({ vendorOf: () => vendor, wordsOf });

  expect(outcomes).toEqual(completed);
  expect([vendor.refused, vendor.dropped]).toEqual([[], []]);
  const at = asked.findIndex(({ wantsSummary }) => wantsSummary);
  expect(
    asked.slice(at + 1).filter(({ instructions }) => !instructions.includes("gladly")),
  ).toEqual([]);
});

test("another model is given the words of it", async () => {
  const vendor = strictAnthropic({ now: () => 0 });
  const modelOf = (send: number): string => (send < 8 ? "claude-opus-5-5" : "claude-fable-5-1");
  const { asked, outcomes } = await play({ vendorOf: () => vendor, modelOf });

  expect(outcomes).toEqual(completed);
  expect(vendor.refused).toEqual([]);
  const last = asked.at(-1);
  expect(last && blocksOf(last)).not.toContain("compaction");
  expect(JSON.stringify(last?.body)).toContain("They talked.");
});

test("a vendor that refuses the feature is asked in words, and the session goes on", async () => {
  const vendor = strictAnthropic({ now: () => 0, refuses: ["compact-2026-09-04"] });
  const { asked, outcomes } = await play({ vendorOf: () => vendor });

  expect(outcomes).toEqual(completed);
  expect(asked.some(({ wantsSummary }) => wantsSummary)).toBe(false);
  expect(asked.some(({ lastUserText }) => lastUserText.includes("write the summary"))).toBe(true);
});

test("a session goes on under another account", async () => {
  const first = strictAnthropic({ now: () => 0, account: "first" });
  const second = strictAnthropic({ now: () => 0, account: "second" });
  const { outcomes } = await play({ vendorOf: (send) => (send < 8 ? first : second) });

  expect(outcomes).toEqual(completed);
  expect(second.refused.length).toBeLessThanOrEqual(1);
});

test('with compaction: "own" it is asked for in words', async () => {
  const vendor = strictAnthropic({ now: () => 0 });
  const { asked, outcomes } = await play({ vendorOf: () => vendor, compaction: "own" });

  expect(outcomes).toEqual(completed);
  expect(asked.some(({ wantsSummary }) => wantsSummary)).toBe(false);
});
