import type { InputId } from "@millrace/core";
import { isReset } from "@millrace/core/ports";
import { readSession } from "@millrace/core/reading";
import type { KnownStart } from "@millrace/core/writing";
import type { SessionStore } from "@millrace/core/ports";
import type { SessionRecord } from "@millrace/core/ports";
import { readBack } from "./read-back.ts";

/** A session, and the store that it is read from. */
export interface ReadableSession extends Pick<SessionRecord, "uid" | "sessionId"> {
  readonly store: Pick<SessionStore, "read" | "checkpoint">;
}

/**
 * What an inbox needs to know of a session, read by its newest checkpoint and the facts since the start of its run
 * and of the inputs that wait. Gives nothing if one of them is not found: then all facts are read.
 */
export function knownStart(session: ReadableSession): () => Promise<KnownStart | undefined> {
  return async () => {
    const { placed, facts: newest } = await readSession(session);
    const { state } = placed;
    const { run, queue } = state;
    for await (const facts of readBack({ ...session, before: state.head + 1, newest })) {
      const since = facts.findLast(
        (fact) => isReset(fact) || (fact.type === "run_started" && fact.runId === run?.runId),
      )?.n;
      const accepted = new Map<InputId, number>();
      for (const fact of facts)
        if (fact.type === "input_accepted") accepted.set(fact.inputId, fact.n);
      const isThere = run === undefined || since !== undefined;
      if (isThere && queue.every(({ inputId }) => accepted.has(inputId)))
        return { state, since: since ?? 0, acceptedAt: (inputId) => accepted.get(inputId) };
    }
    return undefined;
  };
}
