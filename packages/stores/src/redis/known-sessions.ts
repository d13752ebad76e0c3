import { MillraceError } from "@millrace/core";
import { createBatchEncoder } from "@millrace/core/wire";
import type { SessionUid } from "@millrace/core";
import type { Epoch, SessionKey } from "@millrace/core/ports";
import type { BatchEncoder } from "@millrace/core/wire";
import { keysOf } from "./keys.ts";
import type { SessionKeys } from "./keys.ts";
import { Seal } from "./seal.ts";

/** What is remembered of a lane that is written from here. */
export interface KnownLane {
  readonly key: string;
  readonly encode: BatchEncoder;
  /** The epoch whose last append from here was stored. */
  held: Epoch | undefined;
}

/** What is remembered of a session that is written or read from here. */
export interface KnownSession {
  readonly uid: SessionUid;
  readonly keys: SessionKeys;
  readonly seal: Seal;
  readonly lanes: Map<number, KnownLane>;
  /** Whether anybody heard the last batch. */
  watched: boolean | undefined;
  /** Its open subscriptions. */
  subscriptions: number;
}

/** Sessions without a subscription that are remembered. A call for one that is not throws. */
const maxIdle = 10_000;

/**
 * The sessions that this process has the key of. One with an open subscription is kept, and so is one
 * that is written, since a lane's writer listens for nudges. Of the others the oldest goes above a
 * bound; its key has to be set again, which a call for it says. Nothing is ever taken or sent without.
 */
export class KnownSessions {
  readonly #prefix: string;
  readonly #live = new Map<SessionUid, KnownSession>();
  readonly #idle = new Map<SessionUid, KnownSession>();

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
      lanes: new Map<number, KnownLane>(),
      watched: undefined,
      subscriptions: 0,
    };
    this.#rest(session);
  }

  find(uid: SessionUid): KnownSession | undefined {
    return this.#live.get(uid) ?? this.#idle.get(uid);
  }

  /** Throws `missing_key` for a session whose key was not set. */
  of(uid: SessionUid): KnownSession {
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

  /** Keeps a session while it has a subscription. The answer is to be called once, at its end. */
  keep(session: KnownSession): () => void {
    const { uid } = session;
    session.subscriptions += 1;
    if (this.#idle.delete(uid)) this.#live.set(uid, session);
    return () => {
      session.subscriptions -= 1;
      // One that was removed, and maybe set again, is not brought back.
      if (session.subscriptions > 0 || this.#live.get(uid) !== session) return;
      this.#live.delete(uid);
      this.#rest(session);
    };
  }

  forget(uid: SessionUid): void {
    this.#live.delete(uid);
    this.#idle.delete(uid);
  }

  #rest(session: KnownSession): void {
    this.#idle.delete(session.uid);
    this.#idle.set(session.uid, session);
    const [oldest] = this.#idle.size > maxIdle ? this.#idle.keys() : [];
    if (oldest !== undefined) this.#idle.delete(oldest);
  }
}

/** A lane of a session. */
export function laneOf({ keys, lanes }: KnownSession, lane: number): KnownLane {
  const known = lanes.get(lane);
  if (known !== undefined) return known;
  const made = { key: keys.lane(lane), encode: createBatchEncoder(), held: undefined };
  lanes.set(lane, made);
  return made;
}
