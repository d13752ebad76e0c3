import type { Author } from "../content/item.ts";
import type { Delta } from "../delta/delta.ts";
import type { Draft, DraftLimits, Fault } from "../delta/draft.ts";
import type { Epoch } from "../event/epoch.ts";
import type { LiveEvent } from "../event/event.ts";
import type { OpenLane } from "../event/state.ts";
import type { CallId, ItemId, RunId, SessionId, SessionUid, TurnId } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-log.ts";

export interface LaneWriterOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly lane: number;
  readonly epoch: Epoch;
  /** The head at which the store opened the lane. */
  readonly head: number;
  readonly author: Author;
  readonly callId?: CallId | undefined;
  readonly tool?: string | undefined;
  readonly model?: string | undefined;
  readonly limits?: DraftLimits | undefined;
  /**
   * How long deltas are gathered before they go out as one batch, while the lane is watched, whatever the
   * load. While it is not, it is a second. Left out: by the load of this process, within the log's
   * bounds. A window ends at a multiple of its length by the monotonic clock: all lanes of a process
   * append at the same moment, and share a timer and the round trip.
   */
  readonly windowMs?: number | undefined;
  /** Gathered content of this many UTF-16 units or bytes goes out at once. */
  readonly windowSize?: number | undefined;
  /** After this long without a batch the writer appends `lane_idled`, so that a lost batch is noticed. */
  readonly idleMs?: number | undefined;
  /** In [0, 1). Spreads the times at which writers come back to a log that was away. `Math.random` if left out. */
  readonly random?: (() => number) | undefined;
}

/**
 * The one writer of a lane. It folds deltas, gathers them, numbers them, and appends them to the log
 * in order, one batch at a time. The first content of each part goes out at once. When the log has
 * lost the lane, or a reader requests it, the writer restates the whole lane as one batch from 0. What
 * it writes is not durable: committing the item is, and closes the lane.
 */
export interface LaneWriter {
  /** What has been written so far. */
  readonly draft: () => Draft;
  /** The lane as its readers see it, or will. */
  readonly lane: () => OpenLane;
  /** Takes a delta. An illegal one is not written, and its fault is returned. */
  readonly write: (delta: Delta) => Fault | undefined;
  /** Takes an event that is not content: progress, a stall, a retry. */
  readonly publish: (
    event: Exclude<LiveEvent, { readonly type: "content_delta" | "attempt_started" }>,
  ) => void;
  /** Resolves once the log has all that was taken, or can't take it now, or has fenced the writer. */
  readonly flush: () => Promise<void>;
  /** Aborted when another writer holds the lane. This one appends nothing from then on. */
  readonly fenced: AbortSignal;
  /** Flushes and stops. Does not wait long for a log that does not answer. */
  readonly close: () => Promise<void>;
}
