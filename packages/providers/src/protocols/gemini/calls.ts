import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { ClosePart } from "../../protocol.ts";
import { chooseCallId } from "../call-id.ts";
import { filledAt, isSound } from "../read.ts";
import { addArgument, endOf, noArguments } from "./partial-arguments.ts";
import type { OpenCall } from "./state.ts";
import type { Work } from "./work.ts";

const maxCalls = 128;

/**
 * Reads one `functionCall`: a whole call, or a piece of one. A call continues while its pieces have
 * `willContinue`; the first piece without it ends the call, with or without arguments.
 */
export function takeCall(work: Work, call: Json | undefined, signature: string | undefined): void {
  if (!isJsonObject(call)) {
    work.fail("protocol", "a function call is no object");
    return;
  }
  if (isNameless(work, call)) return;
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

/**
 * Takes a piece of a call that has no name, and leaves it out: there is no tool to call. A name behind
 * the first arguments breaks the protocol, because a call without them could run with too few.
 */
function isNameless(work: Work, call: JsonObject): boolean {
  const { reply } = work;
  const named = filledAt(call, "name") !== undefined;
  if (reply.nameless && named) {
    work.fail("protocol", "a call begins before the arguments of the one without a name ended");
    return true;
  }
  const silent = call["args"] === undefined && call["partialArgs"] === undefined;
  if (!reply.nameless && (named || silent || reply.call !== undefined)) return false;
  if (!reply.nameless) reply.namelessCalls += 1;
  reply.nameless = call["willContinue"] === true;
  return true;
}

/** Begins a call. Returns undefined for an end without a call, which is ignored. */
function beginCall(work: Work, call: JsonObject): OpenCall | undefined {
  const name = filledAt(call, "name");
  if (name === undefined) return undefined;
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

/**
 * Reads arguments in one value. A string is taken as JSON text, which is parsed when the part is
 * committed.
 */
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

/** The value as JSON text, or undefined if it is too deep for `stringify`, which recurses. */
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
 * Ends the call. A streamed call is held until another part follows, because a reply that hits its
 * length limit also ends its open call.
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

/**
 * Data to send back with the call: its signature, and the vendor's id, which may differ from the
 * call id.
 */
function opaqueOf({ vendorId, signature }: OpenCall): { readonly opaque?: Json } {
  if (vendorId === undefined && signature === undefined) return {};
  return {
    opaque: {
      ...(vendorId === undefined ? {} : { id: vendorId }),
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    },
  };
}

/** Closes the held calls at the end of a reply; if the reply is cut, with a fault. */
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
