import { checkJson, isJsonObject } from "@millrace/core/json";
import { wholeText } from "@millrace/core/model";
import type { CallId, Json, JsonObject } from "@millrace/core";
import type { ArgumentFault } from "@millrace/core/writing";
import { isSameJson } from "../../reply.ts";
import { chooseCallId } from "../call-id.ts";
import { filledAt, objectAt, textAt } from "../read.ts";
import { keepable, present } from "./events.ts";
import type { CallItem, Edit, ItemKey } from "./state.ts";

/** More calls in one reply than a tool loop should run. */
const mostCalls = 128;

const truncated: ArgumentFault = { code: "truncated" };

export function beginCall(edit: Edit, key: ItemKey, item: JsonObject): CallItem {
  const call: CallItem = {
    kind: "call",
    id: filledAt(item, "id"),
    after: edit.book.after,
    closed: false,
    custom: item["type"] === "custom_tool_call",
    callId: filledAt(item, "call_id"),
    partId: undefined,
    missed: false,
    filled: false,
    held: "",
    whole: undefined,
    done: undefined,
  };
  edit.put(key, call);
  return nameCall(edit, key, item) ?? call;
}

/** Begins the part of a call once its name has arrived. */
export function nameCall(edit: Edit, key: ItemKey, item: JsonObject): CallItem | undefined {
  const call = callAt(edit, key);
  const tool = filledAt(item, "name");
  if (call === undefined || call.partId !== undefined || tool === undefined) return call;
  const callId = takeCall(edit, item["call_id"]);
  if (callId === undefined) return call;
  const partId = edit.begin({ kind: "tool_call", callId, tool: tool.toWellFormed() });
  const named = {
    ...call,
    partId,
    id: filledAt(item, "id") ?? call.id,
    callId: filledAt(item, "call_id") ?? call.callId,
  };
  edit.put(key, named);
  if (call.custom) edit.append(partId, customHead);
  return named;
}

/** The id of a new call. Undefined if the reply has too many, which fails it. */
export function takeCall(edit: Edit, given: Json | undefined): CallId | undefined {
  if (edit.book.calls >= mostCalls) {
    edit.fail("too_many_parts", `a reply has at most ${mostCalls} calls`);
    return undefined;
  }
  const callId = chooseCallId(given, edit.book.taken);
  const taken = new Set(edit.book.taken).add(callId);
  edit.book = { ...edit.book, taken, calls: edit.book.calls + 1 };
  return callId;
}

/** Appends an argument delta outside the fast path of `step`: the first one, and all free text. */
export function appendArguments(edit: Edit, key: ItemKey, data: JsonObject): void {
  const delta = textAt(data, "delta") ?? "";
  const call = callAt(edit, key);
  if (call === undefined || delta === "") return;
  if (call.partId === undefined || call.missed) {
    if (!call.missed) edit.put(key, { ...call, missed: true });
    return;
  }
  const filled = call.filled || /[^ \t\r\n]/.test(delta);
  const { text, held } = call.custom ? wholeText(call.held, delta) : { text: delta, held: "" };
  if (filled !== call.filled || held !== call.held) edit.put(key, { ...call, filled, held });
  edit.append(call.partId, call.custom ? escaped(text) : text);
}

/**
 * Records the complete arguments of a `.done`. A repetition must be of the same value. An empty one
 * takes nothing from arguments that came.
 */
export function noteArguments(edit: Edit, key: ItemKey, data: JsonObject): void {
  const call = callAt(edit, key);
  const whole = argumentsIn(data);
  if (call === undefined || whole === undefined) return;
  const known = call.whole ?? "";
  if (whole.trim() === "" && (call.filled || known.trim() !== "")) return;
  if (known.trim() === "") edit.put(key, { ...call, whole });
  else if (!isSameJson(known, whole)) {
    edit.fail("contradiction", "the vendor gave two full argument texts for one call", { key });
  }
}

/** The complete arguments of an item or an event. Some servers send them parsed. */
export function argumentsIn(data: JsonObject): string | undefined {
  const value = data["input"] ?? data["arguments"];
  if (typeof value === "string") return value;
  return isJsonObject(value) && checkJson(value) === undefined ? JSON.stringify(value) : undefined;
}

/** How far the response is when a call is finished. */
export type CallStage = "item_done" | "completed" | "incomplete";

/**
 * Closes a call: as complete if the vendor reports that, else with a fault. A call without
 * arguments stays open until the response ends, because in a cut response a missing text is not
 * `{}`.
 */
export function finishCall(
  edit: Edit,
  key: ItemKey,
  item: JsonObject | undefined,
  stage: CallStage,
): void {
  if (item !== undefined) {
    nameCall(edit, key, item);
    // The repeated arguments of a cut call may end elsewhere than the streamed ones. Neither is
    // used.
    if (item["status"] !== "incomplete") noteArguments(edit, key, item);
  }
  const call = callAt(edit, key);
  if (call === undefined || edit.failure !== undefined) return;
  if (call.partId === undefined) {
    leaveNameless(edit, key, item === undefined ? call : { ...call, done: item }, stage);
    return;
  }
  const final = item ?? call.done;
  const blank = call.whole === undefined ? !call.filled : call.whole.trim() === "";
  const cut = isCut(call, final, stage, blank);
  if (!cut && blank && stage === "item_done") {
    edit.put(key, { ...call, done: final });
    return;
  }
  edit.put(key, { ...call, closed: true });
  const opaque = describeCall(call, final);
  if (cut) {
    edit.close(call.partId, { opaque, fault: truncated });
    return;
  }
  const { whole } = call;
  if (call.custom && whole === undefined) edit.append(call.partId, `${escaped(call.held)}"}`);
  const raw = call.custom && whole !== undefined ? `${customHead}${escaped(whole)}"}` : whole;
  edit.close(call.partId, { whole: raw, opaque });
}

/** Leaves out a call that has no name when the response ends. Until then its name may still come. */
function leaveNameless(edit: Edit, key: ItemKey, call: CallItem, stage: CallStage): void {
  const over = stage !== "item_done";
  edit.put(key, { ...call, closed: over });
  if (over) edit.book = { ...edit.book, namelessCalls: edit.book.namelessCalls + 1 };
}

function isCut(
  call: CallItem,
  final: JsonObject | undefined,
  stage: CallStage,
  blank: boolean,
): boolean {
  const status = final?.["status"];
  if (status === "incomplete") return true;
  if (stage === "item_done") return call.missed && call.whole === undefined;
  // Deltas alone do not prove that the arguments are complete, nor does the lack of any.
  if (final === undefined && (call.whole === undefined || stage === "incomplete")) return true;
  if (call.missed && call.whole === undefined) return true;
  return stage === "incomplete" && (blank || status !== "completed");
}

/** The fields to send a call item back with: the vendor identifies it by more than `call_id`. */
function describeCall(call: CallItem, final: JsonObject | undefined): JsonObject {
  return keepable(
    present({
      type: call.custom ? "custom_tool_call" : "function_call",
      id: filledAt(final, "id") ?? call.id,
      after: call.after,
      namespace: filledAt(final, "namespace"),
      caller: objectAt(final, "caller"),
    }),
  );
}

const customHead = '{"input":"';

/** The text as it stands between the quotes of a JSON string. */
export function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function callAt(edit: Edit, key: ItemKey): CallItem | undefined {
  const item = edit.book.items.get(key);
  return item?.kind === "call" ? item : undefined;
}
