import type { Json, JsonObject } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import type { Operation } from "../../protocol.ts";
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
import type { Call, OpenaiChatState } from "./state.ts";
import type { ReportedStop } from "./stop.ts";

/** Closes all parts of a reply that is complete, and returns its ending. */
export function closeAll(
  state: OpenaiChatState,
  operations: Operation[],
  reported: Reported,
): Ending {
  let next = beginPending(flushTags(state, operations), operations);
  const isCut = reported.stop === "length" || reported.stop === "filtered";
  const leftOver = next.text === undefined ? metadataOf(next.extras) : {};
  next = closeText(closeReasoning(next, operations), operations);
  next = closeAudio(next, operations);
  for (const call of callsOf(next)) closeCall(call, operations, isCut);
  closeSilentReasoning(next, operations);
  return endingOf(next, reported, leftOver);
}

/** What the vendor reports of the end of a reply. */
interface Reported {
  readonly stop: ReportedStop;
  readonly evidence: JsonObject;
}

/** How many calls never got a name. They have no part, and nothing of them is sent back. */
export function namelessCalls(state: OpenaiChatState): number {
  return callsOf(state).filter(({ name }) => name === "").length;
}

/** Emits held text that could have begun a tag. */
export function flushTags(state: OpenaiChatState, operations: Operation[]): OpenaiChatState {
  const { held, phase } = state.tags;
  if (held === "") return state;
  const next = { ...state, tags: { ...state.tags, held: "" } };
  return phase === "inside" || phase === "opened"
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

/** LiteLLM keeps Gemini's signature in the id, and needs it back. */
const longestId = 16_384;

/** Data to send back with the call: its extras, and the vendor's id if the call id differs. */
function opaqueOf({ custom, extra, given, callId }: Call): JsonObject | undefined {
  const isRenamed = given !== "" && (given !== callId || !plainId.test(given));
  const opaque = soundOf<JsonObject>({
    ...(custom ? { type: "custom" } : {}),
    ...(isRenamed && given.length <= longestId ? { id: given } : {}),
    ...extra,
  });
  return opaque === undefined || Object.keys(opaque).length === 0 ? undefined : opaque;
}

function endingOf(state: OpenaiChatState, reported: Reported, leftOver: JsonObject): Ending {
  const calls = state.tools.calls.length - namelessCalls(state);
  const isDone = reported.stop === "end" || reported.stop === "tools";
  // The vendor gives a refusal the reason of an answer. Other vendors have a reason for it.
  const isRefused = state.flags["refusal"] === true;
  const done = isRefused ? "filtered" : calls > 0 ? "tools" : "end";
  const stop = isDone ? done : reported.stop;
  const flags: Record<string, Json> = { ...state.flags };
  if (reported.stop === "tools" && calls === 0) flags["calls"] = 0;
  return { stop, evidence: { ...reported.evidence, ...flags, ...leftOver } };
}

/** Facts of the last chunk beside the finish reason. */
export function closingFacts(
  state: OpenaiChatState,
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
