import { itemId, partId } from "../ids.ts";
import type { CallId, ItemId } from "../ids.ts";
import type { Item } from "./item.ts";
import type { Part, ToolCallPart, ToolResultPart } from "./part.ts";

/**
 * The committed items of a session. What a model is given obeys one law: right after an item that
 * calls tools come the answers to its calls, each call answered exactly once, in the order of the
 * calls. A transcript that breaks it is refused by every vendor, for ever after.
 */
export type Transcript = readonly Item[];

export type TranscriptFaultCode =
  | "unanswered_call"
  | "answered_twice"
  | "result_without_call"
  /** The answer is there, but other items stand between, or another call's answer comes first. */
  | "out_of_order"
  /** One item calls twice under one id: the second can't be told from the first. */
  | "duplicate_call"
  | "duplicate_item";

export interface TranscriptFault {
  readonly code: TranscriptFaultCode;
  readonly itemId: ItemId;
  readonly callId?: CallId;
}

/** Says where the law is broken. Empty for a transcript that any vendor's request can be made of. */
export function checkTranscript(items: Transcript): readonly TranscriptFault[] {
  return arrange(items).faults;
}

/**
 * Makes the law hold and says what it did. Answers move behind their calls; an unanswered call gets
 * a result marked `synthetic` that says why; second answers and answers to nothing are left out.
 * Linear in the number of parts. A legal transcript comes back as the same array.
 */
export function repairTranscript(items: Transcript): {
  readonly items: Transcript;
  readonly repairs: readonly TranscriptFault[];
} {
  const { arranged, faults } = arrange(items);
  return { items: faults.length === 0 ? items : arranged, repairs: faults };
}

interface Call {
  readonly part: ToolCallPart;
  readonly item: Item;
  answer?: Item;
}

/** A result with the parts that belong to it (pictures that the tool made follow its result). */
interface Answer {
  readonly result: ToolResultPart;
  readonly item: Item;
  readonly at: number;
}

function arrange(items: Transcript): {
  readonly arranged: readonly Item[];
  readonly faults: readonly TranscriptFault[];
} {
  const faults: TranscriptFault[] = [];
  const seen = new Set<ItemId>();
  /** Items in their new order; a calling item holds the place of its answers too. */
  const places: { readonly item: Item; readonly calls: readonly Call[] }[] = [];
  // Vendors reuse call ids in later turns, so a result answers the latest call of its id.
  const latest = new Map<CallId, Call>();
  /** The calls of the item just read, last one first: the next answer should be to the last. */
  let expected: Call[] = [];

  for (const original of items) {
    const item = seen.has(original.id) ? renamed(original, seen) : original;
    if (item !== original) faults.push({ code: "duplicate_item", itemId: original.id });
    seen.add(item.id);
    const answers = answersOf(item);
    if (answers.length === 0) {
      const { calling, calls } = callsOf(item, faults);
      places.push({ item: calling, calls });
      for (const call of calls) latest.set(call.part.callId, call);
      expected = calls.toReversed();
      continue;
    }
    for (const answer of answers) {
      const { callId } = answer.result;
      const call = latest.get(callId);
      if (call === undefined || call.answer !== undefined) {
        const code = call === undefined ? "result_without_call" : "answered_twice";
        faults.push({ code, itemId: item.id, callId });
        continue;
      }
      call.answer = answers.length === 1 ? item : cutOut(answer, answers, seen);
      if (expected.at(-1) === call) expected.pop();
      else faults.push({ code: "out_of_order", itemId: item.id, callId });
    }
  }

  const arranged = places.flatMap(({ item, calls }) => [
    item,
    ...calls.map((call) => {
      if (call.answer !== undefined) return call.answer;
      faults.push({ code: "unanswered_call", itemId: item.id, callId: call.part.callId });
      return syntheticAnswer(call, seen);
    }),
  ]);
  return { arranged, faults };
}

function answersOf(item: Item): readonly Answer[] {
  if (item.author === "model" && item.parts.some((part) => part.kind === "tool_call")) return [];
  return item.parts.flatMap((part, at) =>
    part.kind === "tool_result" ? [{ result: part, item, at }] : [],
  );
}

/** The calls of an item, and the item without any second call under one id. */
function callsOf(item: Item, faults: TranscriptFault[]): { calling: Item; calls: Call[] } {
  const ids = new Set<CallId>();
  const doubled = new Set<Part>();
  const calls: Call[] = [];
  for (const part of item.parts) {
    if (part.kind !== "tool_call") continue;
    if (ids.has(part.callId)) {
      faults.push({ code: "duplicate_call", itemId: item.id, callId: part.callId });
      doubled.add(part);
      continue;
    }
    ids.add(part.callId);
    calls.push({ part, item });
  }
  if (doubled.size === 0) return { calling: item, calls };
  return { calling: { ...item, parts: item.parts.filter((part) => !doubled.has(part)) }, calls };
}

/** One answer of an item that holds several, as an item of its own. */
function cutOut(answer: Answer, answers: readonly Answer[], seen: Set<ItemId>): Item {
  const next = answers[answers.indexOf(answer) + 1];
  const start = answer === answers[0] ? 0 : answer.at;
  const id = freshId(`${answer.item.id}:${answer.result.callId}`, seen);
  return { ...answer.item, id, parts: answer.item.parts.slice(start, next?.at) };
}

function renamed(item: Item, seen: Set<ItemId>): Item {
  return { ...item, id: freshId(`${item.id}:again`, seen) };
}

/** Deterministic, so that a repair made twice gives the same transcript. */
function freshId(wanted: string, seen: Set<ItemId>): ItemId {
  const base = wanted.slice(-200);
  let id = itemId(base);
  for (let count = 2; seen.has(id); count += 1) id = itemId(`${base}:${count}`);
  seen.add(id);
  return id;
}

function syntheticAnswer(call: Call, seen: Set<ItemId>): Item {
  const { part, item } = call;
  const { status, text } = whyUnanswered(part, item);
  const result: ToolResultPart = {
    kind: "tool_result",
    id: partId("result"),
    callId: part.callId,
    tool: part.tool,
    status,
    text,
    synthetic: true,
  };
  const id = freshId(`${item.id}:${part.callId}:unanswered`, seen);
  return { id, author: "tool", parts: [result], stop: "end" };
}

function whyUnanswered(part: ToolCallPart, item: Item): Pick<ToolResultPart, "status" | "text"> {
  if (part.fault !== undefined) {
    return { status: "failed", text: `not run: its arguments are not usable (${part.fault.code})` };
  }
  if (item.stop === "aborted") return { status: "aborted", text: "not run: the turn was stopped" };
  if (item.stop === "end" || item.stop === "tools") {
    return { status: "unknown", text: "no result was recorded; it may or may not have run" };
  }
  return { status: "failed", text: `not run: the reply was cut short (${item.stop})` };
}
