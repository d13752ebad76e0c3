import type { Json, JsonObject } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import type { Operation } from "../../protocol.ts";
import { failure } from "../../failure.ts";
import { restOfArguments } from "./arguments.ts";
import { factsOf, objectOf, soundOf } from "./events.ts";
import { closeAudio } from "./media.ts";
import {
  beginPending,
  callsOf,
  closeReasoning,
  closeSilentReasoning,
  closeText,
  metadataOf,
  appendReasoning,
  appendText,
} from "./parts.ts";
import { noExtras } from "./state.ts";
import type { Call, OpenAiChatState } from "./state.ts";
import { verdictOf } from "./stop.ts";

/** Ends the reply by its finish reason: closes the open parts and stores the ending. */
export function finish(
  state: OpenAiChatState,
  operations: Operation[],
  reasonGiven: string,
  facts: JsonObject,
): OpenAiChatState {
  const evidence = { finish_reason: reasonGiven.slice(0, 200).toWellFormed(), ...facts };
  const { stop, code } = verdictOf(reasonGiven);
  if (code !== undefined) {
    const message = `the vendor's reason to stop was ${JSON.stringify(evidence.finish_reason)}`;
    const cause = failure(code, message, evidence);
    return { ...flushTags(state, operations), ending: { stop: "failed", cause } };
  }
  return closeAll(state, operations, { stop, evidence });
}

/** Closes all parts of a reply with a finish reason. */
export function closeAll(
  state: OpenAiChatState,
  operations: Operation[],
  reported: {
    readonly stop: "end" | "tools" | "length" | "filtered";
    readonly evidence: JsonObject;
  },
): OpenAiChatState {
  let next = beginPending(flushTags(state, operations), operations);
  const isCut = reported.stop === "length" || reported.stop === "filtered";
  const leftOver = next.text === undefined ? metadataOf(next.extras) : {};
  next = closeText(closeReasoning(next, operations), operations);
  next = closeAudio(next, operations);
  for (const call of callsOf(next)) closeCall(call, operations, isCut);
  next = closeSilentReasoning(next, operations);
  const ending = endingOf(next, reported, leftOver);
  return { ...next, extras: noExtras, ending };
}

/** How many calls never got a name. They have no part, and nothing of them is sent back. */
export function namelessCalls(state: OpenAiChatState): number {
  return callsOf(state).filter(({ partId }) => partId === undefined).length;
}

/** Emits held text that could have begun a tag. */
export function flushTags(state: OpenAiChatState, operations: Operation[]): OpenAiChatState {
  const { held, phase } = state.tags;
  if (held === "") return state;
  const next = { ...state, tags: { ...state.tags, held: "" } };
  return phase === "inside"
    ? appendReasoning(next, operations, undefined, held)
    : appendText(next, operations, "text", held);
}

function closeCall(call: Call, operations: Operation[], isCut: boolean): void {
  const { partId, custom, inexact } = call;
  if (partId === undefined) return;
  const { phase } = call.arguments;
  // In a cut reply only a complete object is known to be the whole arguments.
  const truncated = isCut && phase !== "whole";
  const rest = custom ? (truncated ? "" : '"}') : restOfArguments(call.arguments);
  if (rest !== "") operations.push({ op: "append_text", partId, chunk: rest });
  const opaque = opaqueOf(call);
  const code = truncated ? "truncated" : inexact ? "inexact_number" : undefined;
  operations.push({
    op: "close_part",
    partId,
    ...(opaque === undefined ? {} : { opaque }),
    ...(code === undefined ? {} : { fault: { code } }),
  });
}

const plainId = /^[a-zA-Z0-9_-]{1,40}$/;

/** Data to send back with the call: its extras, and the vendor's id if the call id differs. */
function opaqueOf({ custom, extra, given, callId }: Call): JsonObject | undefined {
  const isRenamed = given !== "" && (given !== callId || !plainId.test(given));
  const opaque = soundOf<JsonObject>({
    ...(custom ? { type: "custom" } : {}),
    ...(isRenamed && given.length <= 200 ? { id: given } : {}),
    ...(extra === undefined ? {} : { extra_content: extra }),
  });
  return opaque === undefined || Object.keys(opaque).length === 0 ? undefined : opaque;
}

function endingOf(
  state: OpenAiChatState,
  reported: {
    readonly stop: "end" | "tools" | "length" | "filtered";
    readonly evidence: JsonObject;
  },
  leftOver: JsonObject,
): Ending {
  const calls = state.tools.calls.length - namelessCalls(state);
  const isDone = reported.stop === "end" || reported.stop === "tools";
  const stop = !isDone ? reported.stop : calls > 0 ? "tools" : "end";
  const flags: Record<string, Json> = { ...state.flags };
  if (reported.stop === "tools" && calls === 0) flags["calls"] = 0;
  return { stop, evidence: { ...reported.evidence, ...flags, ...leftOver } };
}

/** Facts of the last chunk beside the finish reason. */
export function closingFacts(
  state: OpenAiChatState,
  data: JsonObject,
  choice: JsonObject,
): JsonObject {
  const filters = soundOf(objectOf(choice["content_filter_results"]));
  const isFiltered = filters !== undefined && Object.keys(filters).length > 0;
  const moderation = soundOf(objectOf(data["moderation"]));
  return {
    ...state.facts,
    ...factsOf(data, choice),
    ...(isFiltered ? { content_filter_results: filters } : {}),
    ...(moderation === undefined ? {} : { moderation }),
  };
}
