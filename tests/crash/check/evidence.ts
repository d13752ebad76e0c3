import { emptyState, replay } from "@millrace/core/reading";
import { trace } from "@millrace/core/testing";
import type { Fact, Item, SessionId, SessionState, SessionUid } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { assemble } from "../../../packages/agent/src/context/assemble.ts";

/** What processes have left behind: their sessions, and what was counted outside of them. */
export interface Evidence {
  readonly sessions: readonly SessionEvidence[];
  /** The key of each effect, in the order in which they happened. */
  readonly effects: readonly string[];
  /** The steps whose acceptance was reported to the user, by place. */
  readonly accepted: ReadonlySet<number>;
  /** Where processes were killed. */
  readonly ends: readonly string[];
}

export interface SessionEvidence {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly facts: readonly Fact[];
}

export function factsOf<Type extends Fact["type"]>(
  { facts }: Pick<SessionEvidence, "facts">,
  type: Type,
): readonly FactOf<Type>[] {
  return facts.filter((fact): fact is FactOf<Type> => fact.type === type);
}

/** What the facts come to. */
export function stateOf({ uid, sessionId, facts }: SessionEvidence): SessionState {
  return replay(emptyState(uid, sessionId), facts);
}

/** All items, each answer behind its call, without regard to summaries. */
export function inOrder(items: readonly Item[]): readonly Item[] {
  return assemble(items, { compactions: [], outputBytes: () => Infinity }).transcript;
}

/** The key under which the effect of a call is counted. */
export function effectKey({ uid }: SessionEvidence, itemId: string): string {
  return `${uid}_${itemId}`;
}

/** Throws with the message if it is not so. */
export function must(isSo: boolean, message: string): asserts isSo {
  if (!isSo) throw new Error(message);
}

/** All sessions as lines of JSON without ids: their items, and how each run ended. */
export function storyOf({ sessions }: Evidence): string {
  const stories = sessions.map((session) => {
    const ends = factsOf(session, "run_finished").map((finished) => {
      const limit = finished.outcome === "limited" ? { limit: finished.limit } : {};
      const cause = finished.outcome === "failed" ? { cause: finished.cause.code } : {};
      return `${JSON.stringify({ run: finished.outcome, ...limit, ...cause })}\n`;
    });
    const { items, queue } = stateOf(session);
    const waiting = queue.length === 0 ? "" : `${JSON.stringify({ waiting: queue.length })}\n`;
    return `${trace(inOrder(items.toArray()))}${ends.join("")}${waiting}`;
  });
  return stories.toSorted().join("\n");
}
