import type { SessionUid } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import { slotOf } from "./slot.ts";

/** The names of all that a session has in Redis. The uid is the hash tag, so they share a slot. */
export interface SessionKeys {
  /** The slot of all of them, which decides their node in a cluster. */
  readonly slot: number;
  /** The stream of a lane. */
  readonly lane: (lane: number) => string;
  /** The set of the lanes that were opened, which `remove` needs: Redis can't list keys by prefix cheaply. */
  readonly lanes: string;
  /** The sealed notice that the session was removed, for writers that create a lane afterwards. */
  readonly removed: string;
  /** The channel of batches, towards readers. */
  readonly tail: string;
  /** The channel of facts. Its own, so that a subscriber to facts alone does not count as watching. */
  readonly facts: string;
  /** The channel towards writers. Its own, so that a writer does not receive its own batches. */
  readonly nudges: string;
}

/** Names a session's keys and channels. A uid has no braces, so it is the whole hash tag. */
export function keysOf(prefix: string, uid: SessionUid): SessionKeys {
  const session = `${prefix}{${uid}}`;
  return {
    slot: slotOf(session),
    lane: (lane) => `${session}:lane:${lane}`,
    lanes: `${session}:lanes`,
    removed: `${session}:removed`,
    tail: `${session}:tail`,
    facts: `${session}:facts`,
    nudges: `${session}:nudges`,
  };
}

/** The entry of a batch in its lane: Redis refuses an id that is not above the last one. */
export function entryId({ epoch, last }: Pick<Batch, "epoch" | "last">): string {
  return `${epoch}-${last}`;
}
