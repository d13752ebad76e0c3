import { removeSession } from "@millrace/core/ports";
import type { EventLog, RemoveOptions, SessionStore, Tombstone } from "@millrace/core/ports";
import { logOf } from "./open.ts";

/** Where the session is stored, and by which actor it is removed. */
export interface SessionRemoval extends RemoveOptions {
  readonly store: SessionStore;
  /** The log of the programs that have the session open. Left out: that of this process, as in `open`. */
  readonly log?: EventLog | undefined;
}

/** Removes a session, and the sessions of its sub-agents, from its store and its log. */
export async function removeStored(
  id: string,
  { store, log = logOf(store), actor }: SessionRemoval,
): Promise<Tombstone | undefined> {
  return await removeSession({ store, log, sessionId: id, actor });
}
