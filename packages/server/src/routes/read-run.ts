import { runIdOf } from "@millrace/core/writing";
import type { Fact, SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { readBack } from "./read-back.ts";

/** The facts of a session from the one on that accepted the input of a run. */
export interface RunFacts {
  readonly facts: readonly Fact[];
  /** The head up to which they were read. */
  readonly head: number;
}

/**
 * Reads a run backwards from the head, to the fact that accepted its input: costs what was stored since.
 * Undefined if no input of this session begins such a run.
 */
export async function readRunFacts(
  store: Pick<SessionStore, "read" | "head">,
  uid: SessionUid,
  runId: string,
): Promise<RunFacts | undefined> {
  const head = await store.head(uid);
  for await (const facts of readBack({ store, uid, before: head + 1 })) {
    const at = facts.findIndex(
      (fact) =>
        fact.type === "input_accepted" &&
        fact.input.kind !== "abort" &&
        fact.input.kind !== "answer" &&
        runIdOf(fact.inputId) === runId,
    );
    if (at >= 0) return { facts: facts.slice(at), head };
  }
  return undefined;
}
