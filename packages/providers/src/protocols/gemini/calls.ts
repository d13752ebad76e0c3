import { isJsonObject } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";
import type { ClosePart } from "../../protocol.ts";
import { chooseCallId } from "../call-id.ts";
import { filledAt, isSound } from "../read.ts";
import { addArgument, endOf, noArguments } from "./partial-arguments.ts";
import type { OpenCall } from "./state.ts";
import type { Work } from "./work.ts";

const maxCalls = 128;

/**
 * One `functionCall`: a whole call, or a piece of one. A call goes on for as long as its pieces say
 * `willContinue`; the piece that does not say so ends it, whether or not there are arguments in it.
 */
export function takeCall(work: Work, call: Json | undefined, signature: string | undefined): void {
  if (!isJsonObject(call)) {
    work.fail("protocol", "a function call is no object");
    return;
  }
  const open = work.reply.call ?? beginCall(work, call);
  if (open === undefined) return;
  if (!belongs(open, call)) {
    work.fail("protocol", `a call begins before the arguments of ${open.tool} ended`);
    return;
  }
  const isSigned = open.signature !== undefined || signature === undefined;
  work.reply.call = isSigned ? open : { ...open, signature };
  takeArguments(work, call);
  if (work.failure === undefined && call["willContinue"] !== true) endCall(work);
}

/** Nothing for an end without a beginning, which says nothing. */
function beginCall(work: Work, call: JsonObject): OpenCall | undefined {
  const name = filledAt(call, "name");
  if (name === undefined) {
    const silent = call["args"] === undefined && call["partialArgs"] === undefined;
    if (!silent) work.fail("protocol", "arguments came for a call that has no name");
    return undefined;
  }
  if (work.reply.calls >= maxCalls) {
    work.fail("too_many_parts", `a reply has at most ${maxCalls} calls`);
    return undefined;
  }
  const given = filledAt(call, "id");
  const callId = chooseCallId(given, work.reply.taken);
  const tool = name.toWellFormed();
  work.reply.taken = new Set(work.reply.taken).add(callId);
  work.reply.calls += 1;
  return {
    id: work.begin({ kind: "tool_call", callId, tool }),
    tool,
    vendorId: given !== undefined && isSound(given) ? given : undefined,
    signature: undefined,
    partial: noArguments,
    written: "nothing",
  };
}

/** True for a piece of the open call. Most pieces have no name; some servers repeat it. */
function belongs(open: OpenCall, call: JsonObject): boolean {
  const name = filledAt(call, "name");
  const id = filledAt(call, "id");
  return (
    (name === undefined || name.toWellFormed() === open.tool) &&
    (id === undefined || open.vendorId === undefined || id === open.vendorId)
  );
}

function takeArguments(work: Work, call: JsonObject): void {
  const whole = call["args"];
  if (whole !== undefined && whole !== null) takeWhole(work, whole);
  const partial = call["partialArgs"];
  if (partial === undefined || partial === null) return;
  if (!Array.isArray(partial)) {
    work.fail("protocol", "the partial arguments of a call are no list");
    return;
  }
  for (const argument of partial as readonly Json[]) takePartial(work, argument);
}

/** Arguments as one value. As a text, they are that text: whether it is JSON is seen at the end. */
function takeWhole(work: Work, value: Json): void {
  const { call } = work.reply;
  if (call === undefined) return;
  if (call.written !== "nothing") {
    work.fail("protocol", `the arguments of ${call.tool} came twice`);
    return;
  }
  const chunk = typeof value === "string" ? value : written(value);
  if (chunk === undefined) {
    work.push({
      op: "close_part",
      partId: call.id,
      ...opaqueOf(call),
      fault: { code: "too_deep" },
    });
    work.reply.call = undefined;
    return;
  }
  if (chunk.trim() === "") return;
  work.push({ op: "append_text", partId: call.id, chunk });
  work.reply.call = { ...call, written: "whole" };
}

/** The value as JSON text. Nothing if the engine can't: it goes down with the value's depth. */
function written(value: Json): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function takePartial(work: Work, argument: Json): void {
  const { call } = work.reply;
  if (call === undefined || work.failure !== undefined) return;
  if (call.written === "whole") {
    work.fail("protocol", `more arguments of ${call.tool} came behind all of them`);
    return;
  }
  const added = addArgument(call.partial, argument);
  if (!added.ok) {
    work.fail("protocol", `the arguments of ${call.tool} can't be written: ${added.message}`);
    return;
  }
  if (added.text !== "") work.push({ op: "append_text", partId: call.id, chunk: added.text });
  work.reply.call = { ...call, partial: added.next, written: "values" };
}

/**
 * The vendor says that the call is over. One that was streamed is held until something follows, since
 * a reply that is cut for its length may end calls in the same breath.
 */
function endCall(work: Work): void {
  const { call } = work.reply;
  if (call === undefined) return;
  work.reply.call = undefined;
  const close: ClosePart = { op: "close_part", partId: call.id, ...opaqueOf(call) };
  if (call.written === "whole") {
    work.push(close);
    return;
  }
  const end = endOf(call.partial);
  if (end === undefined) {
    work.push({ ...close, fault: { code: "truncated" } });
    return;
  }
  if (end !== "") work.push({ op: "append_text", partId: call.id, chunk: end });
  work.reply.held = [...work.reply.held, { close, empty: call.written === "nothing" }];
}

/** What goes back with the call: the vendor's own id, which ours may differ from, and its signature. */
function opaqueOf({ vendorId, signature }: OpenCall): { readonly opaque?: Json } {
  if (vendorId === undefined && signature === undefined) return {};
  return {
    opaque: {
      ...(vendorId === undefined ? {} : { id: vendorId }),
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    },
  };
}

/** At the end of a reply: calls that were ended are closed, as whole ones if the reply is whole. */
export function closeCalls(work: Work, whole: boolean): void {
  const fault = whole ? {} : ({ fault: { code: "truncated" } } as const);
  for (const { close } of work.reply.held) work.push({ ...close, ...fault });
  work.reply.held = [];
  const { call } = work.reply;
  if (call === undefined) return;
  work.reply.call = undefined;
  const close: ClosePart = { op: "close_part", partId: call.id, ...opaqueOf(call) };
  work.push({ ...close, fault: { code: "truncated" } });
}
