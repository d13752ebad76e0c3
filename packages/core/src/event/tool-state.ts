import type { ToolCallPart, ToolResultPart } from "../content/part.ts";
import { textOf } from "../delta/draft.ts";
import type { CallId } from "../ids.ts";
import type { FactOf } from "./event.ts";
import type { Approval, OpenLane, SessionState } from "./state.ts";
import { returnedBy } from "./tool-output.ts";
import type { ToolState } from "./view.ts";

/**
 * What the state of a call rests on, the strongest first: its result, the lane in which its tool
 * writes, the intent to run it, the question whether it may.
 */
export type Evidence = ToolResultPart | UnderWay | Intent | Approval | undefined;
type Intent = FactOf<"tool_execution_started">;
interface UnderWay {
  readonly lane: OpenLane;
  readonly execution: Intent;
}

/** Calls that are being carried out, or that wait for a person's answer. */
export function runningByCall(state: SessionState): ReadonlyMap<CallId, Evidence> {
  const running = new Map<CallId, Evidence>();
  for (const approval of state.approvals) {
    if (approval.answer === undefined) running.set(approval.asked.callId, approval);
  }
  for (const execution of state.executions) {
    const lane = state.lanes.find((open) => open.callId === execution.callId);
    running.set(execution.callId, lane === undefined ? execution : underWay(lane, execution));
  }
  return running;
}

/** The same object for the same two, so that what was made of it can be found again. */
function underWay(lane: OpenLane, execution: Intent): UnderWay {
  const known = pairs.get(lane);
  if (known?.execution === execution) return known;
  const pair = { lane, execution };
  pairs.set(lane, pair);
  return pair;
}
const pairs = new WeakMap<OpenLane, UnderWay>();

/** How far a call has come, by what is known of it. */
export function toolState(call: ToolCallPart, evidence: Evidence): ToolState {
  if (evidence === undefined) {
    if (call.fault === undefined) return { state: "waiting" };
    return {
      state: "failed",
      message: `its arguments are not usable (${call.fault.code})`,
      fault: call.fault,
    };
  }
  if ("kind" in evidence) return resultState(call, evidence);
  if ("asked" in evidence) return { state: "waiting", approvalId: evidence.asked.approvalId };
  if (!("execution" in evidence)) return running(evidence, "", undefined);
  return running(evidence.execution, outputText(evidence.lane), evidence.lane.message);
}

function running({ childSessionId }: Intent, text: string, message: string | undefined): ToolState {
  return {
    state: "running",
    text,
    ...(message === undefined ? {} : { message }),
    ...(childSessionId === undefined ? {} : { childSessionId }),
  };
}

function resultState(call: ToolCallPart, result: ToolResultPart): ToolState {
  switch (result.status) {
    case "ok":
      return { state: "finished", output: returnedBy(result), text: result.text };
    case "denied":
      return result.text === "" ? { state: "denied" } : { state: "denied", reason: result.text };
    case "failed":
    case "aborted":
      return {
        state: "failed",
        message: result.text,
        ...(call.fault === undefined ? {} : { fault: call.fault }),
      };
    default:
      result.status satisfies "unknown";
      return { state: "unknown", message: result.text };
  }
}

/** What a tool has written so far. */
function outputText(lane: OpenLane): string {
  let text = "";
  for (const part of lane.draft.parts) {
    if (part.state === "open" && part.begin.kind === "tool_result") text += textOf(part);
    if (part.state === "committed" && part.part.kind === "tool_result") text += part.part.text;
  }
  return text;
}
