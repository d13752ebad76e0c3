import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import type { VendorEvent } from "../../framing/framing.ts";
import type { Halt, Operation, StreamEnd, Translated } from "../../protocol.ts";
import { cutEnding } from "../../reply.ts";
import { failure } from "../../failure.ts";
import { maxCalls, takeEntry } from "./calls.ts";
import {
  contentPieces,
  deltaOf,
  errorIn,
  factsOf,
  firstChoice,
  listOf,
  objectOf,
  readEntry,
  readLegacy,
  textOf,
  usageIn,
} from "./events.ts";
import { closeAll, closingFacts, flushTags, namelessCalls } from "./finish.ts";
import { takeAudio, takeImage } from "./media.ts";
import { bareField, appendReasoning, appendText } from "./parts.ts";
import { isProven, withFinish, withMore } from "./proof.ts";
import { addDetails, visibleText } from "./reasoning-details.ts";
import type { Extras, OpenaiChatState } from "./state.ts";
import { strayChunk, withStray } from "./stray.ts";
import { splitThinkTags } from "./think-tags.ts";
import { usageOf } from "./usage.ts";

type State = OpenaiChatState;

const none: readonly Operation[] = [];

/**
 * Translates one chunk. Its delta is read before its `finish_reason`, because one chunk may have
 * both.
 */
export function step(state: State, event: VendorEvent): Translated<State> {
  const { data } = event;
  if (data === undefined) return { state, operations: none, sign: "over" };
  const choice = firstChoice(data);
  const known = noteChunk(state, data, choice);
  const error = errorIn(event, choice);
  if (error !== undefined) return { state: known, operations: settled(known), failure: error };
  if (choice === undefined) {
    if (known !== state) return { state: withStray(known, data), operations: none };
    if ("choices" in data)
      return { state: withStray(known, data), operations: none, sign: "alive" };
    return { state, operations: none, sign: data["type"] === "ping" ? "alive" : "unknown" };
  }
  const delta = deltaOf(choice, state.parts === 0);
  const operations: Operation[] = [];
  const next = delta === undefined ? known : takeDelta(known, operations, delta);
  if (typeof next === "string") return broken(state, operations, next);
  const noted = noteExtras(next, data, choice);
  const reason = reasonOf(choice);
  if (reason === undefined) return broken(state, operations, "a finish_reason is no text");
  if (reason === "" && known.finish === undefined) {
    return operations.length > 0 ? { state: noted, operations } : quiet(state, noted);
  }
  const grew = operations.length > 0 || hasGrown(known, noted);
  if (reason === "") return { state: grew ? withMore(noted) : noted, operations };
  const isBeside = grew && isJsonObject(choice["delta"]);
  const facts = closingFacts(noted, data, choice);
  return { state: withFinish(noted, { reason, facts, grew, isBeside }), operations };
}

/** Closes the parts before a failure if they were complete. The reply is not, but they stay. */
function settled(state: State): readonly Operation[] {
  const operations: Operation[] = [];
  const { finish } = state;
  if (finish?.stop !== undefined && isProven(finish, { kind: "eof" })) {
    closeAll(state, operations, { stop: finish.stop, evidence: finish.evidence });
  }
  return operations;
}

/**
 * The finish reason of a choice, or an empty string. Many servers send an empty string where the
 * vendor sends null, and some the word. Undefined if it is no text.
 */
function reasonOf(choice: JsonObject): string | undefined {
  const reason = choice["finish_reason"] ?? "";
  if (reason === "" || reason === "null") return "";
  return typeof reason === "string" ? reason : undefined;
}

/** True if a delta had content that is held back, such as a tag that has only begun. */
function hasGrown(before: State, after: State): boolean {
  return (
    before.tags !== after.tags || before.tools !== after.tools || before.details !== after.details
  );
}

/** The result for a chunk without visible content. */
function quiet(before: State, state: State): Translated<State> {
  return state === before
    ? { state, operations: none, sign: "alive" }
    : { state, operations: none };
}

function broken(
  state: State,
  operations: readonly Operation[],
  message: string,
): Translated<State> {
  const code = message === tooMany ? "too_many_parts" : "protocol";
  return { state, operations, failure: failure(code, message) };
}

const tooMany = `a reply has at most ${maxCalls} tool calls`;

/**
 * Reads the fields of a delta in the order in which a model writes them. Returns a message for an
 * invalid delta.
 */
function takeDelta(state: State, operations: Operation[], delta: JsonObject): State | string {
  let next = takeReasoning(state, operations, delta);
  const content = delta["content"];
  if (typeof content === "string") {
    if (content !== "") next = takeContent(next, operations, content);
  } else if (content !== undefined && content !== null) {
    next = takePieces(next, operations, content);
  }
  const refusal = delta["refusal"];
  if (typeof refusal === "string" && refusal !== "") {
    next = refuse(next, operations, refusal);
  }
  const role = delta["role"];
  if (typeof role === "string" && role !== "" && role !== "assistant") {
    next = flagged(next, "role", role.slice(0, 50).toWellFormed());
  }
  const annotations = listOf(delta["annotations"]);
  if (annotations.length > 0) {
    const chain = { items: annotations, before: next.extras.annotations };
    next = { ...next, extras: { ...next.extras, annotations: chain } };
  }
  const shown = takeMedia(next, operations, delta);
  return typeof shown === "string" ? shown : takeCalls(shown, operations, delta);
}

function refuse(state: State, operations: Operation[], text: string): State {
  return flagged(appendText(state, operations, "refusal", text), "refusal", true);
}

function flagged(state: State, name: string, value: Json): State {
  return name in state.flags ? state : { ...state, flags: { ...state.flags, [name]: value } };
}

const reasoningFields = [bareField, "reasoning", "reasoning_text"];

/** Reads reasoning. Servers repeat it in several fields; the first that is not empty counts. */
function takeReasoning(state: State, operations: Operation[], delta: JsonObject): State {
  if (!mayReason(delta)) return state;
  let next = state;
  const pieces = listOf(delta["reasoning_details"]);
  for (const field of reasoningFields) {
    const value = delta[field];
    if (typeof value !== "string") continue;
    if (value !== "") {
      next = appendReasoning(next, operations, field, value);
      return pieces.length === 0 ? next : { ...next, details: addDetails(next.details, pieces) };
    }
    if (field === bareField && next.bareReasoning === "none") {
      next = { ...next, bareReasoning: "empty" };
    }
  }
  if (pieces.length === 0) return next;
  const visible = visibleText(pieces);
  if (visible !== "") next = appendReasoning(next, operations, undefined, visible);
  return { ...next, details: addDetails(next.details, pieces) };
}

/**
 * False for most chunks. The fields are named one by one, because a lookup by a variable is ten
 * times slower.
 */
function mayReason(delta: JsonObject): boolean {
  return (
    delta["reasoning_content"] !== undefined ||
    delta["reasoning"] !== undefined ||
    delta["reasoning_text"] !== undefined ||
    delta["reasoning_details"] !== undefined
  );
}

function takeContent(state: State, operations: Operation[], content: string): State {
  if (state.tags.phase === "outside") return appendText(state, operations, "text", content);
  const { tags, reasoning, text } = splitThinkTags(state.tags, content);
  let next: State = { ...state, tags };
  if (reasoning !== "") next = appendReasoning(next, operations, undefined, reasoning);
  return text === "" ? next : appendText(next, operations, "text", text);
}

function takePieces(state: State, operations: Operation[], content: Json): State {
  let next = state;
  for (const { channel, text } of contentPieces(listOf(content))) {
    if (text === "") continue;
    if (channel === "reasoning") next = appendReasoning(next, operations, "content", text);
    else if (channel === "refusal") next = refuse(next, operations, text);
    else next = takeContent(next, operations, text);
  }
  return next;
}

function takeMedia(state: State, operations: Operation[], delta: JsonObject): State | string {
  let next = state;
  for (const image of listOf(delta["images"])) {
    const taken = takeImage(next, operations, image);
    if (taken === undefined) return "an image is no base64";
    next = taken;
  }
  const audio = objectOf(delta["audio"]);
  if (audio === undefined) return next;
  return takeAudio(next, operations, audio) ?? "a piece of audio is no base64";
}

function takeCalls(state: State, operations: Operation[], delta: JsonObject): State | string {
  let next = state;
  const entries = listOf(delta["tool_calls"]);
  for (let position = 0; position < entries.length; position += 1) {
    const entry = readEntry(entries[position] ?? null, position, entries.length);
    if (typeof entry === "string") return entry;
    const taken = entry === undefined ? next : takeEntry(next, operations, entry);
    if (taken === undefined) return tooMany;
    next = taken;
  }
  const legacy = objectOf(delta["function_call"]);
  const entry = legacy === undefined ? undefined : readLegacy(legacy);
  return entry === undefined ? next : (takeEntry(next, operations, entry) ?? tooMany);
}

/** Records usage and facts. Most chunks have nothing new. */
function noteChunk(state: State, data: JsonObject, choice: JsonObject | undefined): State {
  const usage = usageIn(data, choice);
  const isNamed = state.facts === undefined && textOf(data["id"]) !== "";
  if (usage === undefined && !isNamed) return state;
  return {
    ...state,
    usage: usage ?? state.usage,
    facts: isNamed ? factsOf(data) : state.facts,
  };
}

/** Records data of the text that is not in the delta. */
function noteExtras(state: State, data: JsonObject, choice: JsonObject): State {
  const citations = data["citations"] ?? undefined;
  const searchResults = data["search_results"] ?? undefined;
  const logprobs = logprobsOf(objectOf(choice["logprobs"]));
  if (citations === undefined && searchResults === undefined && logprobs.length === 0) return state;
  const { extras } = state;
  const changed: Extras = {
    ...extras,
    citations: citations ?? extras.citations,
    searchResults: searchResults ?? extras.searchResults,
    logprobs:
      logprobs.length === 0 ? extras.logprobs : { items: logprobs, before: extras.logprobs },
  };
  return { ...state, extras: changed };
}

/** Those of the text and those of a refusal, of which a chunk has one. */
function logprobsOf(logprobs: JsonObject | undefined): readonly Json[] {
  const ofText = listOf(logprobs?.["content"]);
  return ofText.length > 0 ? ofText : listOf(logprobs?.["refusal"]);
}

/**
 * Decides how the reply ended. Only a `finish_reason` proves that it is complete, and for some of
 * them `[DONE]` has to confirm it (`isProven`). The end of bytes proves nothing.
 */
export function halt(state: State, end: StreamEnd): Halt {
  const stray = end.kind === "over" ? strayChunk(state) : undefined;
  if (stray !== undefined) {
    const read = step({ ...state, stray: "none" }, { name: "", data: stray });
    const halted = halt(read.state, end);
    return { ...halted, operations: [...read.operations, ...halted.operations] };
  }
  const operations: Operation[] = [];
  const ending = endingFor(state, end, operations);
  const usage = usageOf(state.usage);
  return {
    operations,
    ending,
    namelessCalls: namelessCalls(state),
    ...(usage === undefined ? {} : { usage }),
  };
}

function endingFor(state: State, end: StreamEnd, operations: Operation[]): Ending {
  const { finish } = state;
  const isFailed = end.kind === "failed";
  if (finish?.cause !== undefined && !isFailed) {
    flushTags(state, operations);
    return { stop: "failed", cause: finish.cause };
  }
  if (finish?.stop !== undefined && isProven(finish, end)) {
    const { stop, evidence } = finish;
    const ending = closeAll(state, operations, { stop, evidence });
    return isFailed ? cutEnding(end) : ending;
  }
  const isText = state.parts > 0 && state.tools.calls.length === 0;
  if (end.kind === "over" && state.options.finishOptional === true && isText) {
    const evidence = { finish_reason: null, done: true, ...state.facts };
    return closeAll(state, operations, { stop: "end", evidence });
  }
  flushTags(state, operations);
  return cutEnding(end, { ...state.facts, ...state.flags, ...finish?.evidence });
}
