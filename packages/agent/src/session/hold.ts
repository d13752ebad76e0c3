import type { SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";

/** How many hosts of this process hold each session. Only for stores that lock a session to a process. */
const held = new WeakMap<SessionStore, Map<SessionUid, number>>();

/** Locks the session for this process if the store has locks. Throws `session_locked` if another has it. */
export async function holdSession(store: SessionStore, uid: SessionUid): Promise<void> {
  await store.hold?.(uid);
  const counts = held.get(store) ?? new Map<SessionUid, number>();
  held.set(store, counts);
  counts.set(uid, (counts.get(uid) ?? 0) + 1);
}

/** Unlocks the session when its last host in this process is closed. */
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
