import type { Batch } from "@millrace/core/ports";
import { isAfter } from "@millrace/core/store-kit";
import type { EpochSeq } from "@millrace/core/store-kit";

/** Whether a received batch is new. */
export type Gate = (batch: Batch) => boolean;

/**
 * Passes each batch of a lane once and in order, and none of an epoch below one that was received. So
 * late batches of a superseded writer do not follow those of its successor.
 */
export function createGate(): Gate {
  const lanes = new Map<number, EpochSeq>();
  return ({ lane, epoch, last: seq }) => {
    const at = lanes.get(lane);
    const isNews = at === undefined || isAfter({ epoch, seq }, at.epoch, at.seq);
    if (isNews) lanes.set(lane, { epoch, seq });
    return isNews;
  };
}
