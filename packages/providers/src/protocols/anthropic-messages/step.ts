import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { VendorEvent } from "../../framing/framing.ts";
import type { Operation } from "../../protocol.ts";
import { failure, vendorFailure } from "../../failure.ts";
import { startBlock } from "./blocks.ts";
import { stopBlock } from "./closing.ts";
import { addDelta, openBlock } from "./deltas.ts";
import { excerpt, isSound, listAt, objectAt, pick, textAt } from "../read.ts";
import { indexOf } from "./events.ts";
import { beforeContent, broken, failed, noOperations, unknown } from "./state.ts";
import type { AnthropicMessagesState, Outcome } from "./state.ts";
import { addCounts } from "./usage.ts";

/**
 * Translates one event. Only the type in its data counts: some servers omit the event name or send
 * a wrong one.
 */
export function step(state: AnthropicMessagesState, { name, data }: VendorEvent): Outcome {
  // The sentinel of other vendors. Nothing follows it, and it proves nothing.
  if (data === undefined) return { state, operations: noOperations, sign: "over" };
  const type = data["type"];
  if (type === "content_block_delta" && state.phase === "begun" && (name === type || name === "")) {
    return addDelta(beforeContent(state), data);
  }
  if (typeof type !== "string") return untyped(state, data);
  if (type === "ping") return { state, operations: noOperations, sign: "alive" };
  if (type === "error") return reported(state, data);
  if (!contentEvents.has(type)) return unknown(state);
  const misnamed = name !== "" && name !== "message" && name !== type;
  const named = misnamed ? withFact(state, "misnamed_events") : state;
  // The start of the message has no content. Nothing is lost with it but facts and counts.
  const lost = state.phase === "new" && type !== "message_start";
  return known(lost ? { ...named, phase: "begun" } : named, type, data);
}

const contentEvents: ReadonlySet<string> = new Set([
  "message_start",
  "content_block_start",
  "content_block_delta",
  "content_block_stop",
  "message_delta",
  "message_stop",
]);

function known(state: AnthropicMessagesState, type: string, data: JsonObject): Outcome {
  switch (type) {
    case "content_block_delta":
      return addDelta(beforeContent(state), data);
    case "content_block_start":
      return startBlock(beforeContent(state), indexOf(data), data["content_block"]);
    case "content_block_stop": {
      const block = openBlock(state, indexOf(data));
      // A stop without an open block loses nothing; `halt` decides whether the reply is complete.
      return block === undefined ? unknown(state) : stopBlock(state, block);
    }
    case "message_start":
      return startMessage(state, objectAt(data, "message") ?? {});
    case "message_delta":
      return changeMessage(state, data);
    default:
      return { state: { ...state, phase: "over" }, operations: noOperations, sign: "over" };
  }
}

function untyped(state: AnthropicMessagesState, data: JsonObject): Outcome {
  if (data["error"] !== undefined && data["error"] !== null) return reported(state, data);
  return broken(state, "an event has no type", isSound(data) ? data : undefined);
}

function reported(state: AnthropicMessagesState, data: JsonObject): Outcome {
  const given = data["error"];
  const error = isJsonObject(given) ? given : {};
  const message = textAt(error, "message") ?? (typeof given === "string" ? given : "");
  const evidence = isSound(data) ? data : { type: excerpt(textAt(error, "type") ?? "error") };
  const names = [error["type"], error["code"], data["status"]];
  return failed(
    state,
    vendorFailure(names, excerpt(message) || "the vendor reported an error", evidence),
  );
}

const messageFacts = ["container", "context_management", "input_transformations", "diagnostics"];
const usageFacts = [
  "iterations",
  "server_tool_use",
  "service_tier",
  "speed",
  "inference_geo",
  "fallback_credit",
];

/** The facts of a usage object. How long the cache is kept decides what writing it costs. */
function factsOf(usage: JsonObject | undefined): JsonObject {
  const written = Object.values(objectAt(usage, "cache_creation") ?? {});
  const isCached = written.some((count) => typeof count === "number" && count > 0);
  return pick(usage, isCached ? ["cache_creation", ...usageFacts] : usageFacts);
}

function startMessage(state: AnthropicMessagesState, message: JsonObject): Outcome {
  const id = textAt(message, "id");
  const usage = objectAt(message, "usage");
  const counted = { ...state, usage: addCounts(state.usage, usage) };
  if (state.phase !== "new") {
    if (id === undefined || state.id === undefined || id === state.id) {
      return { state: { ...counted, restarted: state.parts > 0 }, operations: noOperations };
    }
    const evidence = { first: excerpt(state.id), second: excerpt(id) };
    const message = "a second message began in one reply";
    return failed(state, failure("contradiction", message, evidence));
  }
  const facts = {
    ...pick(message, ["id", "model", ...messageFacts]),
    ...factsOf(usage),
  };
  const begun: AnthropicMessagesState = { ...counted, phase: "begun", id, facts };
  const content = listAt(message, "content");
  return content.length === 0
    ? { state: begun, operations: noOperations }
    : wholeContent(begun, message);
}

/**
 * Reads content that is already in `message_start`: deferred calls, and content that proxies
 * buffered.
 */
function wholeContent(begun: AnthropicMessagesState, message: JsonObject): Outcome {
  const operations: Operation[] = [];
  let state = begun;
  for (const block of listAt(message, "content")) {
    const started = startBlock(state, undefined, block);
    operations.push(...started.operations);
    const open = started.state.open.at(-1);
    if (started.failure !== undefined || open === undefined) return { ...started, operations };
    const stopped = stopBlock(started.state, open);
    operations.push(...stopped.operations);
    state = stopped.state;
  }
  const reason = textAt(message, "stop_reason");
  const stop = reason === undefined ? undefined : ({ reason, reported: "before_content" } as const);
  return { state: { ...state, stop }, operations };
}

function changeMessage(state: AnthropicMessagesState, data: JsonObject): Outcome {
  const delta = objectAt(data, "delta");
  const usage = objectAt(data, "usage");
  const reason = delta === undefined ? undefined : textAt(delta, "stop_reason");
  const changed =
    reason !== undefined && state.stop?.reported === "at_end" && state.stop.reason !== reason;
  const facts = {
    ...state.facts,
    ...pick(data, messageFacts),
    ...pick(delta, ["stop_sequence", "stop_details", ...messageFacts]),
    ...factsOf(usage),
    ...(changed ? { changed_from: excerpt(state.stop.reason) } : {}),
  };
  const stop = reason === undefined ? state.stop : ({ reason, reported: "at_end" } as const);
  return {
    state: { ...state, stop, facts, usage: addCounts(state.usage, usage) },
    operations: noOperations,
  };
}

function withFact(state: AnthropicMessagesState, name: string): AnthropicMessagesState {
  if (state.facts[name] === true) return state;
  return { ...state, facts: { ...state.facts, [name]: true } };
}
