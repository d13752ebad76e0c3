import { textOf } from "@millrace/core";
import type { Draft, Part, SessionState } from "@millrace/core";

/** The text of all parts, in order. Writers of the cases write one part after the other. */
export function draftText(draft: Draft): string {
  return draft.parts
    .map((part) => (part.state === "open" ? textOf(part) : partText(part.part)))
    .join("");
}

export function itemText(parts: readonly Part[]): string {
  return parts.map(partText).join("");
}

/** The text of a lane in a state, or undefined if it is not open. */
export function laneText(state: SessionState, lane: number): string | undefined {
  const open = state.lanes.find((candidate) => candidate.lane === lane);
  return open && draftText(open.draft);
}

function partText(part: Part): string {
  if (part.kind === "tool_call") return part.raw;
  return "text" in part ? part.text : "";
}
