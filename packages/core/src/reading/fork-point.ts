import type { Fact } from "../event/event.ts";
import { replay } from "../event/reduce.ts";
import { emptyState } from "../event/state.ts";
import { sessionId, sessionUid } from "../ids.ts";
import type { InputId } from "../ids.ts";
import type { PeopleFact } from "../ports/session-record.ts";

/** Where a fork ends, and what is stored in it so that nothing runs in it by itself. */
export interface ForkPoint {
  readonly n: number;
  readonly added: readonly PeopleFact[];
}

/**
 * The end of a fork that has the items up to and including this one: the settlement of the item, or the
 * end of its turn or run. In the fork, inputs that wait are taken back and a run that is on is stopped, by
 * an input of the given id. Undefined if there is no such item.
 */
export function forkPointOf(
  facts: readonly Fact[],
  itemId: string,
  stopId: InputId,
): ForkPoint | undefined {
  const at = facts.findLastIndex(
    (fact) =>
      (fact.type === "item_committed" || fact.type === "item_replaced") && fact.item.id === itemId,
  );
  if (at < 0) return undefined;
  let n = at + 1;
  for (const fact of facts.slice(at + 1)) {
    if (belongs.includes(fact.type)) ({ n } = fact);
    else if (!between.includes(fact.type)) break;
  }
  const empty = emptyState(sessionUid("fork"), sessionId("fork")); // neither decides anything here
  const { queue, run } = replay(empty, facts.slice(0, n));
  const added: PeopleFact[] = queue.map(({ inputId }) => ({
    type: "queue_updated",
    inputId,
    change: "taken_back",
  }));
  if (run !== undefined) {
    const input = { kind: "abort", runId: run.runId, reason: "forked" } as const;
    added.push({ type: "input_accepted", inputId: stopId, input });
  }
  return { n, added };
}

const belongs: readonly Fact["type"][] = [
  "usage_reported",
  "tool_execution_finished",
  "turn_finished",
  "run_finished",
];

/** A claim after a crash and facts of people may come between those. */
const between: readonly Fact["type"][] = [
  "session_claimed",
  "session_released",
  "input_accepted",
  "queue_updated",
  "approval_resolved",
];
