import { runIdOf } from "@millrace/core/writing";
import type { Fact, SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";

/** The facts of a session from the one on that accepted the input of a run. */
export interface RunFacts {
  readonly facts: readonly Fact[];
  /** The head up to which they were read. */
  readonly head: number;
}

/** Facts that are read at a time. */
const factsAtOnce = 256;

/**
 * Reads a run backwards from the head, to the fact that accepted its input: costs what was stored since.
 * Undefined if no input of this session begins such a run.
 */
export async function readRunFacts(
  store: Pick<SessionStore, "read" | "head">,
  uid: SessionUid,
  runId: string,
): Promise<RunFacts | undefined> {
  const chunks: (readonly Fact[])[] = [];
  const head = await store.head(uid);
  for (let before = head + 1; before > 1;) {
    const facts = await store.read(uid, { before, limit: factsAtOnce });
    const at = facts.findIndex(
      (fact) =>
        fact.type === "input_accepted" &&
        fact.input.kind !== "abort" &&
        fact.input.kind !== "answer" &&
        runIdOf(fact.inputId) === runId,
    );
    chunks.push(at < 0 ? facts : facts.slice(at));
    if (at >= 0) return { facts: chunks.toReversed().flat(), head };
    before = facts[0]?.n ?? 1;
  }
  return undefined;
}
