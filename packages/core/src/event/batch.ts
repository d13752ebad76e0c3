import { MillraceError } from "../errors.ts";
import type { ItemId, RunId, SessionId, TurnId } from "../ids.ts";
import type { Epoch } from "./epoch.ts";
import type { LiveEvent, schemaVersion } from "./event.ts";

/**
 * Consecutive live events of one lane, stored and sent as one. Once sent, a batch is never split:
 * `epoch` and `last` are its identity in the log.
 *
 * A batch from 0 is opening, snapshot and re-seed in one. It stands for all of its lane so far,
 * so its events are not its numbers, and a reader replaces its draft by it.
 */
export interface Batch {
  readonly v: typeof schemaVersion;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly turnId: TurnId;
  /** The reserved id of the item that the lane writes. */
  readonly itemId: ItemId;
  readonly lane: number;
  readonly epoch: Epoch;
  readonly first: number;
  readonly last: number;
  /** The number of the last fact that the writer knew. A reader takes those facts first. */
  readonly head: number;
  readonly time: number;
  readonly events: readonly LiveEvent[];
}

/** Where a reader is in a lane. */
export interface LanePosition {
  readonly lane: number;
  readonly epoch: Epoch;
  readonly seq: number;
}

/** True if the position is after what the batch brings: the log's order, by epoch, then by seq. */
export function isAfter(
  position: { readonly epoch: Epoch; readonly seq: number },
  epoch: Epoch,
  seq: number,
): boolean {
  return position.epoch > epoch || (position.epoch === epoch && position.seq > seq);
}

/** Throws for what no log may take. */
export function checkBatch({ epoch, first, last, lane, events }: Batch): void {
  const counts = isCount(epoch) && isCount(first) && isCount(last) && isCount(lane);
  const sound = counts && last >= first && events.length > 0;
  const opened = first > 0 || events[0]?.type === "attempt_started";
  // No claim gives an epoch of 0.
  if (sound && opened && epoch > 0) return;
  throw new MillraceError(
    "invalid_event",
    `a batch needs an epoch, events, first <= last, and from 0 an attempt_started; got ${first} to ${last} of ${epoch} with ${events.length}`,
  );
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
