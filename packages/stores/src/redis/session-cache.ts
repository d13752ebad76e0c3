import { MillraceError } from "@millrace/core";
import { createBatchEncoder } from "@millrace/core/wire";
import type { SessionUid } from "@millrace/core";
import type { Epoch, SessionKey } from "@millrace/core/ports";
import type { BatchEncoder } from "@millrace/core/wire";
import type { Heading } from "./entries.ts";
import { keysOf } from "./keys.ts";
import type { SessionKeys } from "./keys.ts";
import { Seal } from "./seal.ts";

/** The state of a lane that this process writes. */
export interface CachedLane {
  readonly key: string;
  readonly encode: BatchEncoder;
  /** The epoch whose last append from this process was stored. */
  held: Epoch | undefined;
  /** That of the last entry that this process stored whole. Short ones may follow it. */
  heading: Heading | undefined;
}

/** The state of a session that this process writes or reads. */
export interface CachedSession {
  readonly uid: SessionUid;
  readonly keys: SessionKeys;
  readonly seal: Seal;
  readonly lanes: Map<number, CachedLane>;
  /** Whether the last published batch had a subscriber. */
  watched: boolean | undefined;
  /** Its open subscriptions. */
  subscriptions: number;
}

/** Sessions kept without a subscription. A call for one that is not kept throws. */
const maxIdle = 10_000;

/**
 * The sessions that this process has the key of. One with an open subscription is kept, and so is one
 * that is written, since a lane's writer subscribes to nudges. Of the others the oldest is dropped
 * above a bound. A call for it then throws `missing_key` until its key is set again. No text is
 * accepted or sent without a key.
 */
export class SessionCache {
  readonly #prefix: string;
  readonly #live = new Map<SessionUid, CachedSession>();
  readonly #idle = new Map<SessionUid, CachedSession>();
  readonly #removed = new Set<SessionUid>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  setKey(uid: SessionUid, key: SessionKey): void {
    const known = this.find(uid);
    known?.seal.check(key);
    if (known !== undefined && known.subscriptions > 0) return;
    const session = known ?? {
      uid,
      keys: this.keysOf(uid),
      seal: new Seal(uid, key),
      lanes: new Map<number, CachedLane>(),
      watched: undefined,
      subscriptions: 0,
    };
    this.#keepIdle(session);
  }

  find(uid: SessionUid): CachedSession | undefined {
    return this.#live.get(uid) ?? this.#idle.get(uid);
  }

  /** Throws `missing_key` for a session whose key was not set. */
  of(uid: SessionUid): CachedSession {
    const known = this.find(uid);
    if (known !== undefined) return known;
    throw new MillraceError(
      "missing_key",
      `the log has no key for the session ${uid}: call log.setKey(uid, await store.key(uid)) first`,
    );
  }

  keysOf(uid: SessionUid): SessionKeys {
    return keysOf(this.#prefix, uid);
  }

  /** Keeps a session while it has a subscription. The result is called once, at its end. */
  keep(session: CachedSession): () => void {
    const { uid } = session;
    session.subscriptions += 1;
    if (this.#idle.delete(uid)) this.#live.set(uid, session);
    return () => {
      session.subscriptions -= 1;
      // A session that was removed meanwhile, even if its key was set again, is not restored.
      if (session.subscriptions > 0 || this.#live.get(uid) !== session) return;
      this.#live.delete(uid);
      this.#keepIdle(session);
    };
  }

  /** Drops a removed session with its key. */
  remove(uid: SessionUid): void {
    this.#live.delete(uid);
    this.#idle.delete(uid);
    this.#removed.add(uid);
    const [oldest] = this.#removed.size > maxIdle ? this.#removed : [];
    if (oldest !== undefined) this.#removed.delete(oldest);
  }

  /** Whether this process has removed the session. Its writers need not ask Redis. */
  isRemoved(uid: SessionUid): boolean {
    return this.#removed.has(uid);
  }

  #keepIdle(session: CachedSession): void {
    this.#idle.delete(session.uid);
    this.#idle.set(session.uid, session);
    const [oldest] = this.#idle.size > maxIdle ? this.#idle.keys() : [];
    if (oldest !== undefined) this.#idle.delete(oldest);
  }
}

/** The state of a lane, created at its first use. */
export function laneOf({ keys, lanes }: CachedSession, lane: number): CachedLane {
  const known = lanes.get(lane);
  if (known !== undefined) return known;
  const key = keys.lane(lane);
  const made = { key, encode: createBatchEncoder(), held: undefined, heading: undefined };
  lanes.set(lane, made);
  return made;
}
