import { createBatchEncoder } from "@millrace/core";
import type { BatchEncoder, Epoch, SessionUid } from "@millrace/core";
import { keysOf } from "./keys.ts";
import type { SessionKeys } from "./keys.ts";

/** What is remembered of a lane that is written from here. */
export interface KnownLane {
  readonly key: string;
  readonly encode: BatchEncoder;
  /** The epoch whose last append from here was stored. */
  held: Epoch | undefined;
}

/** What is remembered of a session that is written or read from here. */
export interface KnownSession {
  readonly keys: SessionKeys;
  readonly lanes: Map<number, KnownLane>;
  /** Whether anybody heard the last batch. */
  watched: boolean | undefined;
}

/** Who is not remembered waits a little longer for the next announcement, no more. */
const maxSessions = 10_000;

/** Sessions by uid, so that their names are made once. At most so many: above that the oldest goes. */
export class KnownSessions {
  readonly #prefix: string;
  readonly #sessions = new Map<SessionUid, KnownSession>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  of(uid: SessionUid): KnownSession {
    const known = this.#sessions.get(uid);
    if (known !== undefined) return known;
    const [oldest] = this.#sessions.size >= maxSessions ? this.#sessions.keys() : [];
    if (oldest !== undefined) this.#sessions.delete(oldest);
    const keys = keysOf(this.#prefix, uid);
    const session = { keys, lanes: new Map<number, KnownLane>(), watched: undefined };
    this.#sessions.set(uid, session);
    return session;
  }

  forget(uid: SessionUid): void {
    this.#sessions.delete(uid);
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
