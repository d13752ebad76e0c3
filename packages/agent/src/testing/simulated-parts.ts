import { partId } from "@millrace/core/writing";
import type { Cause, Part, ResultStatus, ToolResultPart } from "@millrace/core";
import type { CallStanding } from "../loop/state.ts";

/** The default cause that cuts a simulated reply short. */
export const aborted: Cause = { code: "aborted", message: "stopped" };

export function text(content: string): Part {
  return { kind: "text", id: partId("p1"), text: content };
}

/** The answer to a call. */
export function result({ callId, tool }: CallStanding, status: ResultStatus): ToolResultPart {
  return { kind: "tool_result", id: partId("p1"), callId, tool, status, text: "done" };
}
