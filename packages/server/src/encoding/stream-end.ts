import { streamEndReasons } from "@millrace/core/wire";
import type { StreamEndReason } from "@millrace/core/wire";

/** The reason that a signal was aborted with, if it is one that a reader can be told. */
export function streamEndReason(value: unknown): StreamEndReason | undefined {
  return streamEndReasons.find((reason) => reason === value);
}
