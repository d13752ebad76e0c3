import type { InputId } from "@millrace/core";
import { isReset } from "@millrace/core/ports";
import { readSession } from "@millrace/core/reading";
import type { InboxStart } from "@millrace/core/writing";
import type { SessionStore } from "@millrace/core/ports";
import type { SessionRecord } from "@millrace/core/ports";

/** A session, and the store that it is read from. */
export interface ReadableSession extends Pick<SessionRecord, "uid" | "sessionId"> {
  readonly store: Pick<SessionStore, "read" | "checkpoint">;
}

/**
 * What an inbox needs to know of a session, read by its newest checkpoint and the facts after it. Gives
 * nothing if the start of the run or of an input that waits is older than that: then all facts are read.
 */
export function knownStart(session: ReadableSession): () => Promise<InboxStart | undefined> {
  return async () => {
    const { paged, facts } = await readSession(session);
    const { state } = paged;
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
