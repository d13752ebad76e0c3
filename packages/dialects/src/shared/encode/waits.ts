import type { Fact } from "@millrace/core";
import { RunFollower } from "./run-record.ts";
import type { FollowedRun } from "./run-record.ts";

/** A moment at which a run waited for an answer. */
export interface Wait {
  /** The last fact before it. */
  readonly n: number;
  /** What was asked then: the ids of open questions, and of calls that a client carries out. */
  readonly asked: readonly string[];
  /** The calls that had results then. */
  readonly settled: readonly string[];
}

/** The moments at which a run waited, by its facts from its start on. None if a reset undid some of them. */
export function waitsOf(run: FollowedRun, facts: readonly Fact[]): readonly Wait[] {
  const follower = new RunFollower(run);
  const waits: Wait[] = [];
  for (const fact of facts) {
    if (fact.type === "session_claimed" && fact.to !== undefined) return [];
    follower.take(fact);
    const { phase, state } = follower.record;
    if (phase !== "waiting") continue;
    const questions = state.approvals.filter(({ answer }) => answer === undefined);
    const asked = [
      ...questions.map(({ asked: { approvalId } }) => approvalId),
      ...state.executions.map(({ callId }) => callId),
    ];
    const parts = state.items.toArray().flatMap((item) => item.parts);
    const settled = parts.flatMap((part) => (part.kind === "tool_result" ? [part.callId] : []));
    waits.push({ n: fact.n, asked, settled });
  }
  return waits;
}
