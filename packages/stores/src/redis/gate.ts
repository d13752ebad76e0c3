import { isAfter } from "@millrace/core/ports";
import type { Batch, EpochSeq } from "@millrace/core/ports";

/** Whether a batch that was heard is news. */
export type Gate = (batch: Batch) => boolean;

/**
 * Lets each batch of a lane through once and in order, and nothing of an epoch below one that was
 * heard. So what comes late from a writer that was superseded is not heard after its successor.
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
