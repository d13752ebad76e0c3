import { sessionKey } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { EventLog, SessionKey } from "@millrace/core/ports";

/** The key of sessions that are in no store. */
const anyKey = sessionKey("A".repeat(43));

/**
 * Wraps a log so that it sets the key of each session on first use. Tests then need no code for
 * keys. Keys come from the given store, or are all the same. A log without keys is returned
 * unchanged.
 */
export function withKeys<Log extends EventLog>(
  log: Log,
  keyOf: (uid: SessionUid) => SessionKey | Promise<SessionKey> = () => anyKey,
): Log {
  const { setKey } = log;
  if (setKey === undefined) return log;
  const known = new Set<SessionUid>();
  const set = (uid: SessionUid, key: SessionKey): void => {
    setKey(uid, key);
    known.add(uid);
  };
  const keyed = <T>(uid: SessionUid, call: () => Promise<T>): Promise<T> => {
    if (known.has(uid)) return call();
    const key = keyOf(uid);
    if (typeof key !== "string") {
      return key.then((own) => {
        set(uid, own);
        return call();
      });
    }
    set(uid, key);
    return call();
  };
  return {
    ...log,
    setKey: set,
    append: (uid, batch) => keyed(uid, () => log.append(uid, batch)),
    read: (uid, lane, after) => keyed(uid, () => log.read(uid, lane, after)),
    announce: (uid, fact) => keyed(uid, () => log.announce(uid, fact)),
    tail: (uid, options) => keyed(uid, () => log.tail(uid, options)),
    heads: (uid, options) => keyed(uid, () => log.heads(uid, options)),
    nudge: (uid, nudge) => keyed(uid, () => log.nudge(uid, nudge)),
    nudges: (uid, options) => keyed(uid, () => log.nudges(uid, options)),
    remove: (uid) =>
      keyed(uid, () => {
        known.delete(uid); // the log drops the key too
        return log.remove(uid);
      }),
  };
}
