import type { Batch } from "../event/batch.ts";
import type { Epoch } from "../event/epoch.ts";
import type { Fact } from "../event/event.ts";
import type { SessionUid } from "../ids.ts";

/**
 * Live batches, for minutes: one stream for each lane, ordered and fenced by epoch and seq. It may
 * lose everything at any time; readers notice by their gaps, and a lane's writer can always say all
 * of it again. Facts only pass through, as announcements: they are kept by the SessionStore.
 */
export interface EventLog {
  /**
   * Stores a batch in its lane and announces it. A batch from 0 makes the lane if it is not there,
   * and everything the lane held before it may be dropped. Any other batch needs the lane to be there.
   * A batch that skips numbers is stored: readers see the gap. A malformed one throws `invalid_event`.
   */
  readonly append: (uid: SessionUid, batch: Batch) => Promise<AppendOutcome>;
  /** What the log still holds of a lane after a position, oldest first. It may begin with a gap. */
  readonly read: (uid: SessionUid, lane: number, after?: EpochSeq) => Promise<readonly Batch[]>;
  /** Announces a fact that has been stored. May be lost: heads heal it. */
  readonly announce: (uid: SessionUid, fact: Fact) => Promise<void>;
  /** What is appended and announced from the moment this resolves. At most once each. */
  readonly tail: (uid: SessionUid, options?: TailOptions) => Promise<AsyncIterable<Fact | Batch>>;
  /** Tells the writers of a session something. May be lost. */
  readonly nudge: (uid: SessionUid, nudge: Nudge) => Promise<void>;
  readonly nudges: (uid: SessionUid, options?: TailOptions) => Promise<AsyncIterable<Nudge>>;
  /** Forgets a session and ends its subscriptions. May be called again. */
  readonly remove: (uid: SessionUid) => Promise<void>;
}

export interface EpochSeq {
  readonly epoch: Epoch;
  readonly seq: number;
}

export type AppendOutcome =
  | { readonly outcome: "stored" }
  /** Not above what the lane has seen. The same epoch: an append of ours, sent twice. A higher one: fenced. */
  | { readonly outcome: "refused"; readonly last: EpochSeq }
  /** The lane is not there, or was lost: say all of it again, as a batch from 0. */
  | { readonly outcome: "absent" };

export interface TailOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Towards writers. `reseed`: a reader can't fill a gap in this lane from the log. */
export type Nudge =
  | { readonly kind: "reseed"; readonly lane: number }
  /** Somebody watches now; `abort`: look for a stop among the facts. */
  | { readonly kind: "wake" | "abort" };
