import type { SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";

/** How many handles of this process hold each session, for stores that let one process write. */
const held = new WeakMap<SessionStore, Map<SessionUid, number>>();

/** Takes the store's hold of a session. Throws `session_locked` if another process has it. */
export async function holdSession(store: SessionStore, uid: SessionUid): Promise<void> {
  await store.hold?.(uid);
  const counts = held.get(store) ?? new Map<SessionUid, number>();
  held.set(store, counts);
  counts.set(uid, (counts.get(uid) ?? 0) + 1);
}

/** Gives the hold up, once no handle of this process needs it. */
export async function releaseSession(store: SessionStore, uid: SessionUid): Promise<void> {
  const counts = held.get(store);
  const left = (counts?.get(uid) ?? 1) - 1;
  if (left > 0) {
    counts?.set(uid, left);
    return;
  }
  counts?.delete(uid);
  await store.release?.(uid);
}
