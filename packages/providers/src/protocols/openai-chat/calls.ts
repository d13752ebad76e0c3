import type { Operation } from "../../protocol.ts";
import { noArguments, plainArguments } from "./arguments.ts";
import type { CallEntry } from "./events.ts";
import { beginCall, beginPending, callsOf, withCall, writeCall } from "./parts.ts";
import type { Call, OpenaiChatState, ToolState } from "./state.ts";

/** More calls than any vendor makes at once. */
export const maxCalls = 128;

/**
 * Adds an entry of `tool_calls` to its call, or begins one. Servers omit indexes and ids, use one
 * index for all calls, and repeat or change ids: `findCall` decides. Returns undefined if there are
 * too many calls.
 */
export function takeEntry(
  state: OpenaiChatState,
  operations: Operation[],
  entry: CallEntry,
): OpenaiChatState | undefined {
  const known = findCall(state, entry);
  if (known !== undefined) return continueCall(state, operations, known, entry);
  if (isBlank(entry)) return state;
  const next = beginPending(state, operations);
  if (next.tools.calls.length >= maxCalls) return undefined;
  return continueCall(appendCall(next, entry), operations, newCall(next, entry), entry);
}

function isBlank({ id, name, text }: CallEntry): boolean {
  return id === "" && name.trim() === "" && text.trim() === "";
}

function newCall(state: OpenaiChatState, { index, custom }: CallEntry): Call {
  return {
    at: state.tools.calls.length,
    index,
    given: "",
    name: "",
    partId: undefined,
    callId: "",
    custom,
    inexact: false,
    extra: undefined,
    early: "",
    arguments: custom ? plainArguments : noArguments,
  };
}

function appendCall(state: OpenaiChatState, entry: CallEntry): OpenaiChatState {
  const call = newCall(state, entry);
  const tools = { ...state.tools, calls: [...callsOf(state), call], active: call };
  return { ...state, tools };
}

function continueCall(
  state: OpenaiChatState,
  operations: Operation[],
  known: Call,
  entry: CallEntry,
): OpenaiChatState {
  const call = isPlain(known, entry) ? known : informed(known, entry, state.tools);
  if (call.partId !== undefined) return writeCall(state, operations, call, entry.text);
  const early = call.early + entry.text;
  const held = early === call.early ? call : { ...call, early };
  const named = held.name !== "" && (early !== "" || state.tools.unmistakable.has(held.name));
  return named ? beginCall(state, operations, held) : withCall(state, held);
}

/** True for an entry with only arguments, which most are. */
function isPlain(call: Call, { id, name, extra, inexact }: CallEntry): boolean {
  return extra === undefined && !inexact && name === "" && (id === "" || call.given !== "");
}

/** Adds the other fields of an entry to a call. The first value of each is kept. */
function informed(call: Call, entry: CallEntry, { offered }: ToolState): Call {
  const begun = call.partId !== undefined;
  return {
    ...call,
    given: call.given === "" ? entry.id : call.given,
    name: begun ? call.name : joinName(call.name, entry.name, offered),
    extra: call.extra ?? entry.extra,
    inexact: call.inexact || entry.inexact,
  };
}

/**
 * Joins pieces of a name. Servers send it whole, repeated, in pieces, or longer each time. The
 * offered names decide. If none matches, a name that begins with the known one replaces it.
 */
function joinName(known: string, piece: string, offered: ReadonlySet<string>): string {
  if (piece.trim() === "") return known;
  if (offered.has(known + piece)) return known + piece;
  return offered.has(piece) || piece.startsWith(known) ? piece : known + piece;
}

/** The call that an entry continues, or undefined if it begins one. */
function findCall(state: OpenaiChatState, entry: CallEntry): Call | undefined {
  const { active } = state.tools;
  if (active === undefined) return undefined;
  if (entry.index !== undefined) return findByIndex(state, active, entry);
  if (entry.id !== "") return findById(state, active, entry);
  if (entry.name !== "") {
    return goesOnWithoutId(active, entry, state.tools) ? active : undefined;
  }
  if (entry.siblings > 1) return callsOf(state)[entry.position];
  return unfinished(state, active) ?? active;
}

function findByIndex(state: OpenaiChatState, active: Call, entry: CallEntry): Call | undefined {
  const known = active.index === entry.index ? active : lastOfIndex(state.tools, entry.index);
  if (known !== undefined) return goesOn(known, entry) ? known : undefined;
  if (entry.name !== "") return undefined;
  // The index changed after the call's first chunk.
  if (entry.id !== "") return callsOf(state).findLast(({ given }) => given === entry.id);
  return unfinished(state, active);
}

/**
 * Searches `calls` directly. Its entry of the active call is outdated, but that call has another
 * index here.
 */
function lastOfIndex({ calls }: ToolState, index: number | undefined): Call | undefined {
  let at = calls.length - 1;
  while (at >= 0 && calls[at]?.index !== index) at -= 1;
  return calls[at];
}

function findById(state: OpenaiChatState, active: Call, entry: CallEntry): Call | undefined {
  const known = callsOf(state).findLast(({ given }) => given === entry.id);
  if (known !== undefined) return goesOn(known, entry) ? known : undefined;
  // The id arrives late, or changes in the middle of a call.
  if (entry.name === "" || (active.name === "" && active.given === "")) {
    return unfinished(state, active);
  }
  return undefined;
}

/** True if an entry with a call's index or id continues that call. */
function goesOn(call: Call, { id, name, text }: CallEntry): boolean {
  const changed = id !== "" && call.given !== "" && id !== call.given;
  if (changed && name !== "") return false;
  if (changed) return call.arguments.phase !== "whole" || !text.trimStart().startsWith("{");
  return name === "" || call.partId === undefined || name === call.name;
}

/** Without index and id, a name begins a call unless it repeats or completes the last one. */
function goesOnWithoutId(
  active: Call,
  { position, name, text }: CallEntry,
  { offered }: ToolState,
): boolean {
  if (position > 0) return false;
  if (active.name === "") return true;
  if (active.partId === undefined) {
    return text === "" || name === active.name || offered.has(active.name + name);
  }
  return name === active.name && active.arguments.phase !== "whole";
}

/** The last call with incomplete arguments. */
function unfinished(state: OpenaiChatState, active: Call): Call | undefined {
  if (active.arguments.phase !== "whole") return active;
  return callsOf(state).findLast((call) => call.arguments.phase !== "whole");
}
