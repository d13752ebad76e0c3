import { MillraceError } from "@millrace/core";
import type { Batch } from "@millrace/core";

/** Throws for what is not a legal batch, as every log does. */
export function checkBatch(batch: Batch): void {
  const { epoch, first, last, lane, events } = batch;
  const counts = isCount(epoch) && isCount(first) && isCount(last) && isCount(lane);
  const sound = counts && last >= first && events.length > 0;
  const opened = first > 0 || events[0]?.type === "attempt_started";
  // Redis has no entry 0-0. No claim gives an epoch of 0.
  if (sound && opened && epoch > 0) return;
  throw new MillraceError(
    "invalid_event",
    `a batch needs an epoch, events, first <= last, and from 0 an attempt_started; got ${first} to ${last} of ${epoch} with ${events.length}`,
  );
}

function isCount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}
