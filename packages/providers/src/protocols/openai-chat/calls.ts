import type { Operation } from "../../protocol.ts";
import { noArguments, plainArguments } from "./arguments.ts";
import type { CallEntry } from "./events.ts";
import { beginCall, beginPending, callsOf, withCall, writeCall } from "./parts.ts";
import type { Call, OpenAiChatState, ToolState } from "./state.ts";

/** More calls than any vendor makes at once. */
export const maxCalls = 128;

/**
 * Adds an entry of `tool_calls` to the call that it belongs to, or begins one with it. Servers leave
 * out indexes and ids, use one index for all calls, and repeat or change ids: `findCall` decides.
 * Nothing if there would be too many calls.
 */
export function takeEntry(
  state: OpenAiChatState,
  operations: Operation[],
  entry: CallEntry,
): OpenAiChatState | undefined {
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

function newCall(state: OpenAiChatState, { index, custom }: CallEntry): Call {
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

function appendCall(state: OpenAiChatState, entry: CallEntry): OpenAiChatState {
  const call = newCall(state, entry);
  const tools = { ...state.tools, calls: [...callsOf(state), call], active: call };
  return { ...state, tools };
}

function continueCall(
  state: OpenAiChatState,
  operations: Operation[],
  known: Call,
  entry: CallEntry,
): OpenAiChatState {
  const call = isPlain(known, entry) ? known : informed(known, entry, state.tools);
  if (call.partId !== undefined) return writeCall(state, operations, call, entry.text);
  const early = call.early + entry.text;
  const held = early === call.early ? call : { ...call, early };
  const named = held.name !== "" && (early !== "" || state.tools.unmistakable.has(held.name));
  return named ? beginCall(state, operations, held) : withCall(state, held);
}

/** Nothing but arguments: by far the commonest. */
function isPlain(call: Call, { id, name, extra, inexact }: CallEntry): boolean {
  return extra === undefined && !inexact && name === "" && (id === "" || call.given !== "");
}

/** The call with what the entry says of it beyond arguments. First wins. */
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

/** Names come whole, again, in pieces, or longer each time. What was offered decides, else the look. */
function joinName(known: string, piece: string, offered: ReadonlySet<string>): string {
  if (piece.trim() === "") return known;
  if (offered.has(known + piece)) return known + piece;
  return offered.has(piece) || piece.startsWith(known) ? piece : known + piece;
}

/** The call that an entry goes on with. Nothing if it begins one. */
function findCall(state: OpenAiChatState, entry: CallEntry): Call | undefined {
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

function findByIndex(state: OpenAiChatState, active: Call, entry: CallEntry): Call | undefined {
  const known = active.index === entry.index ? active : lastOfIndex(state.tools, entry.index);
  if (known !== undefined) return goesOn(known, entry) ? known : undefined;
  if (entry.name !== "") return undefined;
  // The index changed behind the call's first chunk.
  if (entry.id !== "") return callsOf(state).findLast(({ given }) => given === entry.id);
  return unfinished(state, active);
}

/** A call's index never changes, so none but the one that is found has to be as it stands now. */
function lastOfIndex({ calls }: ToolState, index: number | undefined): Call | undefined {
  let at = calls.length - 1;
  while (at >= 0 && calls[at]?.index !== index) at -= 1;
  return calls[at];
}

function findById(state: OpenAiChatState, active: Call, entry: CallEntry): Call | undefined {
  const known = callsOf(state).findLast(({ given }) => given === entry.id);
  if (known !== undefined) return goesOn(known, entry) ? known : undefined;
  // An id that comes late, or another one in the middle of a call.
  if (entry.name === "" || (active.name === "" && active.given === "")) {
    return unfinished(state, active);
  }
  return undefined;
}

/** Whether an entry under a call's index or id is about that call. */
function goesOn(call: Call, { id, name, text }: CallEntry): boolean {
  const changed = id !== "" && call.given !== "" && id !== call.given;
  if (changed && name !== "") return false;
  if (changed) return call.arguments.phase !== "whole" || !text.trimStart().startsWith("{");
  return name === "" || call.partId === undefined || name === call.name;
}

/** With neither index nor id a name begins a call, unless it repeats or completes the last one's. */
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

/** The last call that still waits for arguments. */
function unfinished(state: OpenAiChatState, active: Call): Call | undefined {
  if (active.arguments.phase !== "whole") return active;
  return callsOf(state).findLast((call) => call.arguments.phase !== "whole");
}
