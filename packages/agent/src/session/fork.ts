import { MillraceError } from "@millrace/core";
import { blobsInFact, copyBlobs } from "@millrace/core/blobs";
import type { SessionRecord } from "@millrace/core/ports";
import { forkPointOf } from "@millrace/core/reading";
import { inputId, sessionId } from "@millrace/core/writing";
import type { SessionHost } from "./session-host.ts";

/**
 * Makes a new session with the facts of another one up to an item. In the new session, queued inputs are
 * taken back and a run in progress is stopped, so that nothing runs until a prompt is sent. Throws
 * `refused` if the item does not exist.
 */
export async function forkAt(
  host: SessionHost,
  itemId: string,
  id: string | undefined,
): Promise<SessionRecord> {
  const { store, record, makeId } = host.options;
  const facts = await store.read(record.uid);
  const point = forkPointOf(facts, itemId, inputId(makeId("input")));
  if (point === undefined) {
    throw new MillraceError("refused", `no item ${itemId} is in this session`);
  }
  const name = sessionId(id ?? makeId("session"));
  const fork = await store.fork(record.uid, { sessionId: name, ...point });
  const { blobs } = host.options;
  // Copied and not shared: the fork outlives the session that it came from.
  if (blobs !== undefined) {
    await copyBlobs(blobs, record, fork, facts.slice(0, point.n).flatMap(blobsInFact));
  }
  return fork;
}
