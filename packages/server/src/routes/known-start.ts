import type { InputId } from "@millrace/core";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import { isReset } from "@millrace/core/store-kit";
import { readSession } from "@millrace/core/reading";
import type { KnownStart } from "@millrace/core/writing";

/** A session, and the store that it is read from. */
export interface ReadableSession extends Pick<SessionRecord, "uid" | "sessionId"> {
  readonly store: Pick<SessionStore, "read" | "checkpoint">;
}

/**
 * What an inbox needs to know of a session, read by its newest checkpoint and the facts after it. Gives
 * nothing if the start of the run or of an input that waits is older than that: then all facts are read.
 */
export function knownStart(session: ReadableSession): () => Promise<KnownStart | undefined> {
  return async () => {
    const { placed, facts } = await readSession(session);
    const { state } = placed;
    const { run, queue } = state;
    const since = facts.findLast(
      (fact) => isReset(fact) || (fact.type === "run_started" && fact.runId === run?.runId),
    )?.n;
    if (run !== undefined && since === undefined) return undefined;
    const accepted = new Map<InputId, number>();
    for (const fact of facts)
      if (fact.type === "input_accepted") accepted.set(fact.inputId, fact.n);
    if (!queue.every(({ inputId }) => accepted.has(inputId))) return undefined;
    return { state, since: since ?? 0, acceptedAt: (inputId) => accepted.get(inputId) };
  };
}
