import type { Part, ToolCallPart } from "../content/part.ts";
import type { ParsedArguments } from "../content/arguments.ts";
import type { Draft, OpenPart } from "../delta/draft.ts";
import { assemblePart } from "../delta/fold.ts";
import { findPart } from "../delta/verify.ts";
import { nextGeneration } from "../event/epoch.ts";
import { closedEpoch } from "../event/state.ts";
import type { OpenLane, SessionState } from "../event/state.ts";
import { laneItemIdOf, numberedPart } from "../ids.ts";
import type { InputId, PartId } from "../ids.ts";
import { parseLine } from "./message-codec.ts";
import { count, decodeBy, jsonObject } from "./shape.ts";

// What steps refer to, for the side that leaves it out and the side that puts it in: both use these
// functions, so they can't disagree.

/**
 * The run and turn under way, as far as a fact of this type must name them; undefined where there is none.
 * They are left out together or not at all.
 */
export function runFields({ run }: SessionState, type: string): Readonly<Record<string, unknown>> {
  switch (type) {
    case "session_released":
    case "run_finished":
    case "turn_started":
    case "compaction_started":
    case "compaction_finished":
      return { runId: run?.runId };
    case "turn_finished":
    case "approval_requested":
    case "tool_execution_started":
    case "tool_execution_finished":
    case "usage_reported":
      return { runId: run?.runId, turnId: run?.turn?.turnId };
    default:
      return {};
  }
}

/** Types of steps of a lane that are an event of it. No live event of a later release may have one. */
export const eventTypes: ReadonlySet<unknown> = new Set([
  "text",
  "begin_part",
  "append_bytes",
  "append_text",
  "replace_structured",
  "set_metadata",
  "commit_part",
]);

/** Whether a step is of a lane, and not a fact. */
export function isOfLane(type: unknown): boolean {
  return type === "lane" || type === "live" || eventTypes.has(type);
}

/** Open lanes whose places always stand in an id, however long their numbers are. */
const lanesInId = 4;

/** Whether the place of an open lane always stands in the id: then its steps need no number. */
export function isInId({ lanes }: SessionState, lane: number): boolean {
  return lanes.slice(0, lanesInId).some((open) => open.lane === lane);
}

/** Fields that a fact shares with what the state has of its call or item; undefined where it has nothing. */
export function impliedFields(
  state: SessionState,
  type: string,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  switch (type) {
    case "approval_requested":
      return callFields(latestCall(state, given["callId"]));
    case "tool_execution_started": {
      const lane = count.decode(given["lane"], "lane");
      const callId = callInLane(state, lane)?.callId;
      const call = callFields(latestCall(state, given["callId"] ?? callId));
      return { callId, ...call, itemId: itemInLane(state, lane), epoch: nextEpoch(state) };
    }
    case "tool_execution_finished": {
      const callId = answered(state)?.callId;
      const named = given["callId"] ?? callId;
      const started = state.executions.find((execution) => execution.callId === named);
      return { callId, tool: started?.tool, status: "ok" };
    }
    case "usage_reported":
      return { usage: state.items.at(state.items.length - 1)?.usage };
    default:
      return {};
  }
}

function callFields(call: ToolCallPart | undefined): Readonly<Record<string, unknown>> {
  return { tool: call?.tool, input: call?.input };
}

/** The call of the turn's reply that is answered in this lane: lane 0 is the reply's. */
function callInLane({ run, items }: SessionState, lane: number): ToolCallPart | undefined {
  const item = items.at(items.findLastIndex(({ id }) => id === run?.turn?.reply));
  return item?.parts.filter((part) => part.kind === "tool_call")[lane - 1];
}

/** The first execution whose answer is stored. */
function answered({
  executions,
  ...state
}: SessionState): SessionState["executions"][number] | undefined {
  return executions.find(({ lane, epoch }) => epoch <= closedEpoch(state, lane));
}

/** The item that an engine writes in a lane of the turn under way. */
export function itemInLane({ run }: SessionState, lane: number): string | undefined {
  const turnId = run?.turn?.turnId;
  // Ids are bounded: of a turn with a long one, no item's follows.
  return turnId && turnId.length < 200 ? laneItemIdOf(turnId, lane) : undefined;
}

/** The epoch of the next writer that a driver starts; undefined if the reader may not know of one. */
export function nextEpoch(state: SessionState): number | undefined {
  const { closed, closedLanes, lanes, executions } = state;
  if (lanes.length > lanesInId) return undefined;
  const used = [...closedLanes, ...lanes, ...executions].map(({ epoch }) => epoch);
  return nextGeneration(Math.max(closed, ...used));
}

/** Vendors reuse call ids in later turns: the latest one counts. */
function latestCall({ items }: SessionState, callId: unknown): ToolCallPart | undefined {
  const isIt = (part: Part): part is ToolCallPart =>
    part.kind === "tool_call" && part.callId === callId;
  return items.at(items.findLastIndex(({ parts }) => parts.some(isIt)))?.parts.findLast(isIt);
}

/** The parts of an input that waits in the queue. */
export function queuedParts(
  { queue }: SessionState,
  inputId: InputId,
): readonly Part[] | undefined {
  const queued = queue.find((waiting) => waiting.inputId === inputId)?.input;
  return queued !== undefined && "parts" in queued ? queued.parts : undefined;
}

/** The execution that is on in a lane: it has all that the lane's opening says. */
export function laneExecution(
  { executions }: SessionState,
  lane: number,
): Readonly<Record<string, unknown>> | undefined {
  const started = executions.findLast((execution) => execution.lane === lane);
  if (started === undefined) return undefined;
  const { epoch, runId, turnId, itemId, callId, tool, time } = started;
  return { time, epoch, runId, turnId, itemId, author: "tool", callId, tool };
}

/** The lane that an event is in: what its parts have in common. */
export type LaneIds = Pick<OpenLane, "itemId" | "callId" | "tool">;

/** Fields that a delta has in common with its lane and its draft: a new part's, else the newest part's. */
export function impliedOfDelta(
  { itemId, callId, tool }: LaneIds,
  { parts }: Draft,
  op: unknown,
  given: unknown,
): Readonly<Record<string, unknown>> {
  if (op !== "begin_part") return { partId: parts.at(-1)?.id };
  const begun = { partId: numberedPart(itemId, parts.length + 1) };
  const kind = callId === undefined ? "text" : "tool_result";
  if (given !== undefined && given !== kind) return begun;
  return kind === "text" ? { ...begun, kind } : { ...begun, kind, callId, tool };
}

/** A part of a lane's item: as it was committed, or as it would be committed now. */
export function partOf({ draft }: OpenLane, id: PartId): Part | undefined {
  const part = draft.parts[findPart(draft.parts, id)];
  return part?.state === "open" ? streamedPart(part) : part?.part;
}

/**
 * An open part as it was streamed. Only whether a call's text is an object is looked at: a call that its
 * writer found another fault in is not equal to this, and is sent with what it has.
 */
export function streamedPart(open: OpenPart): Part {
  return assemblePart(open, (raw): ParsedArguments => {
    const read = decodeBy(
      { decode: () => jsonObject.decode(parseLine(raw.trim() || "{}"), "") },
      raw,
    );
    if (read.ok) return { input: read.value };
    return { fault: { code: read.fault.code === "not_json" ? "bad_json" : "not_an_object" } };
  });
}
