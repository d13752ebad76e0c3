import type { Item } from "../content/item.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../content/part.ts";
import { textOf } from "../delta/draft.ts";
import type { OpenPart } from "../delta/draft.ts";
import type { CallId } from "../ids.ts";
import type { FactOf } from "./event.ts";
import type { Approval, OpenLane, QueuedInput, SessionState } from "./state.ts";
import type { ToolState, View, ViewApproval, ViewInput, ViewItem, ViewPart } from "./view.ts";

/**
 * What a screen shows of a state. Pure: the same state gives an equal view. What has not changed
 * since an earlier view is the same object, so that a screen can skip it. Linear in the number of
 * parts, whatever their length.
 */
export function project(state: SessionState): View {
  const { run, ended } = state;
  const unanswered = state.approvals.filter((approval) => approval.answer === undefined);
  return {
    status: run === undefined ? "idle" : unanswered.length > 0 ? "paused" : "running",
    stopping: run?.aborting === true,
    released: run?.released === state.incarnation,
    items: viewItems(state),
    earlier: state.earlier,
    approvals: unanswered.map(viewApproval),
    queue: state.queue.map(viewInput),
    lastRun: ended,
    error: ended?.outcome === "failed" ? ended.cause : undefined,
    compacting: state.compacting,
    usage: state.usage,
  };
}

/**
 * What the state of a call rests on, the strongest first: its result, the lane in which its tool
 * writes, the intent to run it, the question whether it may.
 */
type Evidence = ToolResultPart | UnderWay | Intent | Approval | undefined;
type Intent = FactOf<"tool_execution_started">;
interface UnderWay {
  readonly lane: OpenLane;
  readonly execution: Intent;
}

function viewItems(state: SessionState): readonly ViewItem[] {
  const evidenceOf = evidence(state);
  const items: ViewItem[] = [];
  for (const item of state.items) {
    if (!isAnswer(item)) items.push(viewItem(item, (callId) => evidenceOf(item, callId)));
  }
  for (const lane of state.lanes) {
    if (lane.callId === undefined) items.push(viewLane(lane));
  }
  return items;
}

/** Finds what the state of an item's call rests on. Call ids come again in later turns. */
function evidence(state: SessionState): (item: Item, callId: CallId) => Evidence {
  const results = new Map<Item, Map<CallId, ToolResultPart>>();
  const latest = new Map<CallId, Item>();
  for (const item of state.items) {
    for (const part of item.parts) {
      if (part.kind === "tool_call") latest.set(part.callId, item);
      if (part.kind !== "tool_result") continue;
      const calling = latest.get(part.callId);
      if (calling === undefined) continue;
      const own = results.get(calling) ?? new Map<CallId, ToolResultPart>();
      if (!own.has(part.callId)) own.set(part.callId, part);
      results.set(calling, own);
    }
  }
  const running = runningByCall(state);
  return (item, callId) =>
    results.get(item)?.get(callId) ??
    (latest.get(callId) === item ? running.get(callId) : undefined);
}

/** Calls that are being carried out, or that wait for a person's answer. */
function runningByCall(state: SessionState): ReadonlyMap<CallId, Evidence> {
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

/** An item that holds nothing but answers is shown on the calls it answers. */
function isAnswer(item: Item): boolean {
  return item.parts.length > 0 && item.parts.every((part) => part.kind === "tool_result");
}

/** Views by what they were made of. An entry lives as long as its source does. */
const itemViews = new WeakMap<Item, ViewItem>();
const partViews = new WeakMap<object, { readonly evidence: Evidence; readonly view: ViewPart }>();

function viewItem(item: Item, evidenceOf: (callId: CallId) => Evidence): ViewItem {
  const parts = item.parts
    .filter((part) => part.kind !== "tool_result")
    .map((part) => viewPart(part, part.kind === "tool_call" ? evidenceOf(part.callId) : undefined));
  const before = itemViews.get(item);
  if (before !== undefined && sameParts(before.parts, parts)) return before;
  const { id, author, stop, cause } = item;
  const view: ViewItem = {
    id,
    author,
    live: false,
    parts,
    stop,
    ...(cause === undefined ? {} : { cause }),
  };
  itemViews.set(item, view);
  return view;
}

function sameParts(left: readonly ViewPart[], right: readonly ViewPart[]): boolean {
  return left.length === right.length && left.every((part, at) => part === right[at]);
}

function viewLane(lane: OpenLane): ViewItem {
  const { itemId: id, author, stalledMs, retry } = lane;
  const parts = lane.draft.parts.map((part) =>
    part.state === "open" ? viewOpenPart(part) : viewPart(part.part, undefined),
  );
  return {
    id,
    author,
    live: true,
    parts,
    ...(stalledMs === undefined ? {} : { stalledMs }),
    ...(retry === undefined ? {} : { retry }),
  };
}

function viewPart(part: Part, evidence: Evidence): ViewPart {
  const before = partViews.get(part);
  if (before !== undefined && before.evidence === evidence) return before.view;
  const view = makeViewPart(part, evidence);
  partViews.set(part, { evidence, view });
  return view;
}

function makeViewPart(part: Part, evidence: Evidence): ViewPart {
  switch (part.kind) {
    case "tool_call": {
      const { kind, id, callId, tool, raw, input, metadata } = part;
      const shown = {
        kind,
        id,
        live: false,
        callId,
        tool,
        raw,
        input,
        ...(metadata === undefined ? {} : { metadata }),
      };
      return { ...shown, ...toolState(part, evidence) };
    }
    case "tool_result": {
      // Only in a draft of its own: a finished result is shown on its call.
      const { id, text } = part;
      return { kind: "text", id, live: false, text };
    }
    case "media":
    case "file":
      return part.bytes === undefined
        ? { ...part, live: false }
        : { ...part, live: false, size: part.bytes.length };
    case "reasoning": {
      const { opaque: _, ...shown } = part; // the vendor's own, of no use to a screen
      return { ...shown, live: false };
    }
    case "text":
    case "structured":
    case "custom":
    case "opaque":
      return { ...part, live: false };
    default:
      part satisfies never;
      return part;
  }
}

function viewOpenPart(open: OpenPart): ViewPart {
  const before = partViews.get(open);
  if (before !== undefined) return before.view;
  const view = makeOpenView(open);
  partViews.set(open, { evidence: undefined, view });
  return view;
}

function makeOpenView(open: OpenPart): ViewPart {
  const { id, begin, metadata } = open;
  const base = { id, live: true, ...(metadata === undefined ? {} : { metadata }) };
  switch (begin.kind) {
    case "text":
    case "reasoning":
      return { ...base, kind: begin.kind, text: textOf(open) };
    case "tool_result":
      return { ...base, kind: "text", text: textOf(open) };
    case "tool_call": {
      const { callId, tool } = begin;
      return {
        ...base,
        kind: "tool_call",
        callId,
        tool,
        raw: textOf(open),
        input: undefined,
        state: "writing",
      };
    }
    case "media":
      return { ...base, kind: "media", mediaType: begin.mediaType, size: open.bytes?.length ?? 0 };
    case "file":
      return {
        ...base,
        kind: "file",
        name: begin.name,
        mediaType: begin.mediaType,
        size: open.bytes?.length ?? 0,
      };
    case "structured":
      return { ...base, kind: "structured", value: open.value };
    case "custom":
      return { ...base, kind: "custom", name: begin.name, value: open.value };
    default:
      begin satisfies never;
      return begin;
  }
}

function toolState(call: ToolCallPart, evidence: Evidence): ToolState {
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
      return { state: "finished", output: result.output ?? result.text, text: result.text };
    case "denied":
      return result.text === "" ? { state: "denied" } : { state: "denied", reason: result.text };
    case "unknown":
      return { state: "unknown", message: result.text };
    case "failed":
    case "aborted":
      return {
        state: "failed",
        message: result.text,
        ...(call.fault === undefined ? {} : { fault: call.fault }),
      };
    default:
      result.status satisfies never;
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

function viewApproval({ asked }: Approval): ViewApproval {
  const { approvalId: id, callId, tool, input, hash } = asked;
  return { id, callId, tool, input, hash };
}

function viewInput({ inputId: id, input }: QueuedInput): ViewInput {
  if (input.kind === "answer") return { id, kind: input.kind, text: "" };
  const text = input.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  return { id, kind: input.kind, text };
}
