import { textOf } from "@millrace/core";
import type { SessionState } from "@millrace/core";

/** What a screen shows of an open lane. */
export function laneText(state: SessionState, lane = 0): string | undefined {
  const [part] = state.lanes.find((open) => open.lane === lane)?.draft.parts ?? [];
  return part?.state === "open" ? textOf(part) : undefined;
}
