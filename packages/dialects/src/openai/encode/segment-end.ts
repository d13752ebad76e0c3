import type { SessionState, StopReason } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import type { SegmentEnd } from "./response-json.ts";

const plain = { error: null, incomplete_details: null } as const;

/** A segment that goes on. */
export const segmentOn: SegmentEnd = { status: "in_progress", ...plain };
/** A segment whose prompt waits. */
export const segmentQueued: SegmentEnd = { status: "queued", ...plain };
/** A segment that waits for the client: the response is complete, and the next request goes on. */
export const segmentWaits: SegmentEnd = { status: "completed", ...plain };
/** A segment that was stopped, or whose prompt was taken back. */
const segmentStopped: SegmentEnd = { status: "cancelled", ...plain };
/** A segment of which another attempt took the place of what was sent. */
export const segmentBroken: SegmentEnd = {
  status: "failed",
  incomplete_details: null,
  error: {
    code: "server_error",
    message: "An operator took back a part of this run. Read the session to see what is there.",
  },
};

/** How a segment ended, by the session's state after its last fact. */
export function segmentEnd(
  state: SessionState,
  ended: FactOf<"run_finished"> | undefined,
): SegmentEnd {
  switch (ended?.outcome) {
    case undefined:
    case "aborted":
      return segmentStopped;
    case "limited":
      return incomplete("max_output_tokens");
    case "failed": {
      const { code, message } = ended.cause;
      if (code === "filtered" || code === "content_filter") return incomplete("content_filter");
      const known = code === "rate_limited" ? "rate_limit_exceeded" : "server_error";
      return { status: "failed", incomplete_details: null, error: { code: known, message } };
    }
    case "completed":
      return byStop(lastStop(state));
    default:
      ended satisfies never;
      return segmentStopped;
  }
}

function byStop(stop: StopReason | undefined): SegmentEnd {
  if (stop === "length") return incomplete("max_output_tokens");
  if (stop === "filtered") return incomplete("content_filter");
  return { status: "completed", ...plain };
}

function incomplete(reason: string): SegmentEnd {
  return { status: "incomplete", error: null, incomplete_details: { reason } };
}

function lastStop({ items }: SessionState): StopReason | undefined {
  return items.toArray().findLast(({ author }) => author !== "user" && author !== "tool")?.stop;
}
