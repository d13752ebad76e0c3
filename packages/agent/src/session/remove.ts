import type {
  BlobStore,
  EventLog,
  RemoveOptions,
  SessionStore,
  Tombstone,
} from "@millrace/core/ports";
import { removeSession } from "@millrace/core/store-kit";
import { logOf } from "./open.ts";

/** Where the session is stored, and by which actor it is removed. */
export interface SessionRemoval extends RemoveOptions {
  readonly store: SessionStore;
  /** The log of the programs that have the session open. Left out: that of this process, as in `open`. */
  readonly log?: EventLog | undefined;
  /** Where the session's blobs are. They are removed too. */
  readonly blobs?: BlobStore | undefined;
}

/** Removes a session, and the sessions of its sub-agents, from its store and its log. */
export async function removeStored(
  id: string,
  { store, log = logOf(store), blobs, actor }: SessionRemoval,
): Promise<Tombstone | undefined> {
  return await removeSession({ store, log, blobs, sessionId: id, actor });
}
