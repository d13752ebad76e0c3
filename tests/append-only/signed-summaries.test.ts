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
  readonly outcomes: readonly string[];
}

interface Play {
  readonly vendorOf: (send: number) => StrictVendor;
  readonly modelOf?: (send: number) => string;
  readonly wordsOf?: (send: number) => string;
  readonly compaction?: "auto" | "own";
}

/** A session of ten sends whose context is summarised once or twice. */
async function play({ vendorOf, modelOf, wordsOf, compaction }: Play): Promise<Played> {
  const asked: AcceptedRequest[] = [];
  let send = 0;
  await using server = await startVendorServer({
    replies: (request) =>
      vendorOf(send).answer(request, (accepted) => {
        asked.push(accepted);
        const isSummary =
          accepted.wantsSummary || accepted.lastUserText.includes("write the summary");
        return isSummary
          ? { text: "They talked." }
          : { think: "Hm.", text: `Answer ${send}. ${"word ".repeat(400)}` };
      }),
  });
  const settings = {
    thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } },
  } as const;
  const [store, log] = [memorySessionStore(), memoryEventLog()];
  const outcomes: string[] = [];
  for (send = 0; send < 10; send += 1) {
    const name = modelOf?.(send) ?? "claude-opus-5-5";
    const agent = defineAgent({
      model: anthropic(name, { baseUrl: server.url, apiKey: "k", retry: false, settings }),
      instructions: wordsOf?.(send) ?? "Help.",
      context: { window: 4_000, keep: 4, ...(compaction && { compaction }) },
    });
    await using session = await agent.open({ id: "s", store, log });
    outcomes.push((await session.send(`go ${send}`).result).outcome);
  }
  return { asked, outcomes };
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
