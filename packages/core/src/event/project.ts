import type { Item } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import { textOf } from "../delta/draft.ts";
import type { OpenPart } from "../delta/draft.ts";
import type { CallId } from "../ids.ts";
import type { Approval, OpenLane, QueuedInput, SessionState } from "./state.ts";
import { noteOf, putNote } from "./note.ts";
import { runningByCall, toolState } from "./tool-state.ts";
import type { Evidence } from "./tool-state.ts";
import type { View, ViewApproval, ViewInput, ViewItem, ViewPart } from "./view.ts";

/**
 * What a screen shows of a state. Pure: the same state gives an equal view. What has not changed
 * since an earlier view is the same object, so that a screen can skip it. Costs what has changed since
 * the last view of a state that this one grew from, however long the session is. `items` is made when
 * it is read: a copy of the references while an item is being written, else the same array as before.
 */
export function project(state: SessionState): View {
  const { run, ended } = state;
  let items: View["items"] | undefined;
  const unanswered = state.approvals.filter((approval) => approval.answer === undefined);
  return {
    status: run === undefined ? "idle" : unanswered.length > 0 ? "paused" : "running",
    stopping: run?.aborting === true,
    released: run?.released === state.incarnation,
    get items() {
      return (items ??= viewItems(state));
    },
    earlier: state.earlier,
    approvals: unanswered.map(viewApproval),
    queue: state.queue.map(viewInput),
    lastRun: ended,
    error: ended?.outcome === "failed" ? ended.cause : undefined,
    compacting: state.compacting,
    usage: state.usage,
  };
}

/** The items of a list as a screen shows them. Kept: a view costs only what is new since the last one. */
interface ItemViews {
  /** How many items of the list were taken up. */
  length: number;
  readonly views: ViewItem[];
  /** A copy of the views that was handed out, until one of them changes. */
  copy: readonly ViewItem[] | undefined;
  /** The last item with a call of this id: call ids come again in later turns. */
  readonly callers: Map<CallId, Caller>;
  /** What the views rest on besides the list. */
  running: ReadonlyMap<CallId, Evidence>;
}

interface Caller {
  readonly item: Item;
  /** Its place among the views. */
  place?: number;
  /** The first result of each of its calls. */
  readonly results: Map<CallId, Evidence>;
}

/** By the origin of a list, which a longer list that grew from it has too. */
const viewsByOrigin = new WeakMap<object, ItemViews>();

function viewItems(state: SessionState): readonly ViewItem[] {
  const shown = showList(state);
  const live = state.lanes.filter((lane) => lane.callId === undefined).map(viewLane);
  if (live.length > 0) return [...shown.views, ...live];
  return (shown.copy ??= shown.views.slice());
}

function showList(state: SessionState): ItemViews {
  const { items } = state;
  let shown = viewsByOrigin.get(items.origin);
  // A view of an earlier state: its calls may have had no results yet.
  if (shown === undefined || shown.length > items.length) {
    shown = { length: 0, views: [], copy: undefined, callers: new Map(), running: new Map() };
    viewsByOrigin.set(items.origin, shown);
  }
  const { views, callers } = shown;
  const running = runningByCall(state);
  const moved = takeUp(items, shown);
  for (const id of [...shown.running.keys(), ...running.keys()]) moved.add(callers.get(id));
  shown.running = running;
  for (const caller of moved) {
    if (caller === undefined) continue;
    const view = viewItem(
      caller.item,
      (id) => caller.results.get(id) ?? (callers.get(id) === caller ? running.get(id) : undefined),
    );
    caller.place ??= views.length;
    if (views[caller.place] === view) continue;
    views[caller.place] = view;
    shown.copy = undefined;
  }
  return shown;
}

/** Takes up the items that are new in the list. Gives those whose views may have changed by them, in order. */
function takeUp(items: SessionState["items"], shown: ItemViews): Set<Caller | undefined> {
  const { callers } = shown;
  const moved = new Set<Caller | undefined>();
  for (; shown.length < items.length; shown.length += 1) {
    const item = items.at(shown.length) as Item; // within the list
    const caller: Caller = { item, results: new Map() };
    if (!isAnswer(item)) moved.add(caller);
    for (const part of item.parts) {
      if (part.kind === "tool_call") {
        moved.add(callers.get(part.callId));
        callers.set(part.callId, caller);
      }
      if (part.kind !== "tool_result") continue;
      const known = callers.get(part.callId);
      moved.add(known);
      if (known?.results.has(part.callId) === false) known.results.set(part.callId, part);
    }
  }
  return moved;
}

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
  const { id, author, stop, cause, usage, model } = item;
  const view: ViewItem = {
    id,
    author,
    live: false,
    parts,
    stop,
    ...(cause === undefined ? {} : { cause }),
    ...(usage === undefined ? {} : { usage }),
    ...(model === undefined ? {} : { model }),
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
    part.state === "open" ? viewOpen(part) : viewPart(part.part, undefined),
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

function viewOpen(open: OpenPart): ViewPart {
  const before = noteOf(open) as ViewPart | undefined; // this is the only note that drafts have
  if (before !== undefined) return before;
  const view = makeOpenView(open);
  putNote(open, view);
  return view;
}

function makeViewPart(part: Part, evidence: Evidence): ViewPart {
  switch (part.kind) {
    case "tool_call": {
      const { opaque: _, fault: __, ...shown } = part; // its state shows the fault
      return { ...shown, live: false, input: part.input, ...toolState(part, evidence) };
    }
    case "tool_result": {
      // Only in a draft of its own: a finished result is shown on its call.
      const { id, text } = part;
      return { kind: "text", id, live: false, text };
    }
    case "media":
    case "file":
      return part.url === undefined
        ? { ...part, live: false, size: part.blob?.size ?? part.bytes?.length ?? 0 }
        : { ...part, live: false };
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

function makeOpenView(open: OpenPart): ViewPart {
  const { id, begin, metadata } = open;
  const { op: _, partId: __, ...labels } = begin;
  const base = { ...labels, id, live: true, ...(metadata === undefined ? {} : { metadata }) };
  switch (base.kind) {
    case "text":
    case "reasoning":
      return { ...base, kind: base.kind, text: textOf(open) };
    case "tool_result": {
      const { callId: _, tool: __, ...shown } = base; // its lane answers the call
      return { ...shown, kind: "text", text: textOf(open) };
    }
    case "tool_call": {
      const view: ViewPart = {
        ...base,
        kind: base.kind,
        raw: textOf(open),
        input: undefined,
        state: "writing",
      };
      putNote(view, open);
      return view;
    }
    case "media":
    case "file":
      return { ...base, size: open.bytes?.length ?? 0 };
    case "structured":
      return { ...base, kind: base.kind, value: open.value };
    case "custom":
      return { ...base, value: open.value };
    default:
      base satisfies never;
      return base;
  }
}

function viewApproval({ asked }: Approval): ViewApproval {
  const { approvalId: id, callId, tool, input, parsed, hash, time, seconds } = asked;
  return {
    id,
    callId,
    tool,
    input,
    ...(parsed !== undefined && { parsed }),
    hash,
    ...(seconds !== undefined && { expiresAt: time + seconds * 1_000 }),
  };
}

function viewInput({ inputId: id, input }: QueuedInput): ViewInput {
  if (input.kind === "answer") return { id, kind: input.kind, text: "" };
  const text = input.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
  return { id, kind: input.kind, text };
}
