import type { Batch } from "../event/batch.ts";
import type { Epoch } from "../event/epoch.ts";
import type { Fact } from "../event/event.ts";
import type { SessionKey, SessionUid } from "../ids.ts";

/**
 * Live batches, for minutes: one stream for each lane, ordered and fenced by epoch and seq. It may
 * lose everything at any time; readers notice by their gaps, and a lane's writer can always restate
 * the lane. Facts only pass through, as announcements: they are kept by the SessionStore.
 *
 * Whatever medium a log uses, its readers get only what a program with the session's key has written:
 * anything else is dropped, as if it had been lost.
 */
export interface EventLog {
  /** How long a lane gathers deltas while a reader is attached. Left out: 8 ms to 50 ms, and 0 to 50 for one that is `near`. */
  readonly window?: WindowBounds;
  /**
   * Gives the log the session's key in this process, before any other call for this session. A log
   * whose medium other programs can write to has this method, and its calls throw
   * `missing_key` without it. A log keeps the key at least as long as a subscription of the session is
   * open, and the keys of the last 10,000 sessions beyond that. May be repeated; the key of a session
   * never changes, so another one throws `invalid_definition`.
   */
  readonly setKey?: (uid: SessionUid, key: SessionKey) => void;
  /**
   * Stores a batch in its lane and announces it. A batch from 0 makes the lane if it is not there,
   * and everything the lane held before it may be dropped. Any other batch needs the lane to be there.
   * A batch that skips numbers is stored: readers see the gap. A malformed one throws `invalid_event`.
   */
  readonly append: (uid: SessionUid, batch: Batch) => Promise<AppendOutcome>;
  /** What the log still holds of a lane after a position, oldest first. It may begin with a gap. */
  readonly read: (uid: SessionUid, lane: number, after?: EpochSeq) => Promise<readonly Batch[]>;
  /** Announces a fact that has been stored. May be lost: heads heal it. An outage is no error. */
  readonly announce: (uid: SessionUid, fact: Fact) => Promise<void>;
  /**
   * What is appended and announced from the moment this resolves. At most once each. It throws when
   * the subscription breaks: its reader subscribes again, and reads what it may have missed.
   */
  readonly tail: (
    uid: SessionUid,
    options?: SubscribeOptions,
  ) => Promise<AsyncIterable<Fact | Batch>>;
  /**
   * The numbers of facts that are announced from the moment this resolves, without their content: a
   * hint to read the store. Each is the highest so far, and a slow reader gets only the last one. For
   * drivers, which act on what is stored and on nothing else. It is not counted as a watcher. It throws
   * when the subscription breaks: its reader subscribes again, and polls the head meanwhile.
   */
  readonly heads: (uid: SessionUid, options?: SubscribeOptions) => Promise<AsyncIterable<number>>;
  /**
   * Sends a nudge to the writers and the driver of a session. May be lost; an outage is no error.
   * Resolves to the number of subscriptions that received it, where the log knows: 0 means that no
   * live process subscribes.
   */
  readonly nudge: (uid: SessionUid, nudge: Nudge) => Promise<number | undefined>;
  /** The nudges from now on. The subscription outlives an outage: a writer subscribes once in its life. */
  readonly nudges: (uid: SessionUid, options?: SubscribeOptions) => Promise<AsyncIterable<Nudge>>;
  /**
   * Deletes a session's lanes and its key, and ends its subscriptions. May be called again. A uid is never
   * used twice, so what a writer appends later is refused with `lastOfRemoved`, which fences it: nothing
   * of the session comes back. Without the key a log that needs one ends those of this process alone: others find at their next poll that the
   * session is gone.
   */
  readonly remove: (uid: SessionUid) => Promise<void>;
}

/**
 * The shortest and the longest time that a lane gathers deltas before it appends them, in milliseconds.
 * The shortest while the process has room, longer as its event loop fills: 25 ms from half of its time on,
 * 50 ms from three quarters on, no longer than `mostMs`. `leastMs` 0: what comes in one turn of the event loop is
 * appended at once. The first content of each part never waits. Equal bounds are a fixed window.
 */
export interface WindowBounds {
  readonly leastMs: number;
  readonly mostMs: number;
}

/** A place in a lane: an epoch, and the last seq of it that is stored. */
export interface EpochSeq {
  readonly epoch: Epoch;
  readonly seq: number;
}

/** Above every epoch: the place that a log gives to the writers of a removed session. */
export const lastOfRemoved: EpochSeq = { epoch: Number.MAX_SAFE_INTEGER, seq: 0 };

/** What a log did with a batch. */
export type AppendOutcome =
  /**
   * `watched`: whether a subscriber received this batch or the one before it. Left out: not known.
   * `near`: whether a subscriber of this process received it. Unless the log has a `window`, its lane then
   * gathers nothing while the process has room.
   */
  | { readonly outcome: "stored"; readonly watched?: boolean; readonly near?: boolean }
  /** Not above the lane's last batch. `last` of the same epoch: a repeated append. Of a higher one: fenced. */
  | { readonly outcome: "refused"; readonly last: EpochSeq }
  /** The lane does not exist, or was lost: append all of it again, as a batch from 0. */
  | { readonly outcome: "absent" };

/** How long a subscription lasts. */
export interface SubscribeOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Towards writers. `reseed`: a reader can't fill a gap in this lane from the log. */
export type Nudge =
  | { readonly kind: "reseed"; readonly lane: number }
  /** `wake`: a reader has subscribed; `abort`: a stop was stored, read the facts. */
  | { readonly kind: "wake" | "abort" };
