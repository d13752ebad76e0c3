import { emptyState, replay } from "@millrace/core/reading";
import { numberFacts } from "@millrace/core/store-kit";
import { runIdOf, sessionId, sessionUid, inputId, turnId } from "@millrace/core/writing";
import type { FactBody } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { call, item, result, text } from "../testing/transcripts.ts";
import { assemble } from "./assemble.ts";
import { contextOf } from "./context.ts";
import { requestOf } from "./request-of.ts";

const runId = runIdOf(inputId("i1"));
const most = 1.2;
const outputBytes = (): number => 65_536;

it("a request of 1,000 items costs at most 1.2 times what assembling them does", async () => {
  const items = Array.from({ length: 500 }, (_, at) => [
    item(`m${at}`, "model", [text("words"), call(`${at}`)], "tools"),
    item(`r${at}`, "tool", [result(`${at}`, "x".repeat(1_000))]),
  ]).flat();
  const set = { type: "guidance_set", runId, turnId: turnId("t") } as const;
  const bodies = items.flatMap((each, at): FactBody[] => [
    ...(at % 100 === 0 ? [{ ...set, guidance: { instructions: `${at}`, tools: [] } }] : []),
    { type: "item_committed", item: each, runId },
  ]);
  const empty = emptyState(sessionUid("u"), sessionId("s"));
  const facts = numberFacts(bodies, empty, 0);
  const state = replay(empty, facts);
  const context = contextOf(state, facts);
  const session = state.items.toArray();
  const source = { context, session, outputBytes };

  const ratio = await retryWhenNoisy(
    async () => {
      const bare = leastOf(() => assemble(session, { compactions: [], session, outputBytes }));
      const whole = leastOf(() => requestOf(source, { appends: "tools", outputInWords: true }));
      return whole / bare;
    },
    (measured) => measured < most,
  );

  console.log(`cost: a request of 1,000 items, ${ratio.toFixed(2)} x of assembling them`);
  expect(ratio).toBeLessThan(most);
});

/** Microseconds of processor time of a hundred calls, the least of several runs. */
function leastOf(work: () => unknown): number {
  const runs = Array.from({ length: 12 }, () => {
    const before = process.cpuUsage();
    for (let at = 0; at < 100; at += 1) work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  });
  return Math.min(...runs);
}
