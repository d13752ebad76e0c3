import type { Json, JsonObject, ReasoningPart, ToolCallPart } from "@millrace/core";
import { refersToMedia } from "../moved-media.ts";
import type { ModelTurn } from "../prepare.ts";
import { callFields, objectOf } from "./events.ts";
import { bareField } from "./parts.ts";
import { joinDetails } from "./reasoning-details.ts";
import { givenId } from "../wire-ids.ts";
import type { WireIds } from "../wire-ids.ts";

/** Rules that depend on other turns. */
export interface AssistantRules {
  /** Tools were called between the same two user turns, so the reasoning is sent back. */
  readonly inLoop: boolean;
  /** The server sends `reasoning_content` and requires it with every call. */
  readonly demandsReasoning: boolean;
  readonly model: string;
  readonly ids: WireIds;
}

/** Converts a model turn to a message. Returns undefined if it has no text and no calls. */
export function assistantOf(turn: ModelTurn, rules: AssistantRules): JsonObject | undefined {
  const { parts } = turn;
  const calls = parts.flatMap((part) => (part.kind === "tool_call" ? [part] : []));
  const text = textOfTurn(turn);
  if (text === "" && calls.length === 0) return undefined;
  const reasoning = parts.flatMap((part) => (part.kind === "reasoning" ? [part] : []));
  const sent = calls.map((call, at) => callOf(call, at, rules));
  const thinking = joined(reasoning, "content");
  return {
    role: "assistant",
    content: thinking === "" ? (text === "" ? null : text) : withThinking(thinking, text),
    ...reasoningFields(reasoning, calls, rules),
    ...(sent.length === 0 ? {} : { tool_calls: sent }),
  };
}

function textOfTurn({ parts, native }: ModelTurn): string {
  // The vendor wrote one text, which calls split into parts.
  const texts: string[] = [];
  let isOpen = false;
  for (const part of parts) {
    if (part.kind !== "text" || part.text.trim() === "") continue;
    // A part that refers to media has no place in the vendor's text.
    if (isOpen && native && !refersToMedia(part)) texts.push(`${texts.pop() ?? ""}${part.text}`);
    else texts.push(part.text);
    isOpen = !refersToMedia(part);
  }
  return texts.join("\n\n");
}

/** The text of the reasoning that arrived in a field. */
function joined(reasoning: readonly ReasoningPart[], field: string): string {
  return reasoning
    .filter(({ opaque }) => objectOf(opaque)?.["field"] === field)
    .map(({ text }) => text)
    .join("");
}

/** The content in Mistral's form, with the reasoning in it. */
function withThinking(thinking: string, text: string): Json {
  const thought = { type: "thinking", thinking: [{ type: "text", text: thinking }] };
  return text === "" ? [thought] : [thought, { type: "text", text }];
}

/** Reasoning is sent back in the field that it arrived in. */
function reasoningFields(
  reasoning: readonly ReasoningPart[],
  calls: readonly ToolCallPart[],
  { inLoop, demandsReasoning, ids }: AssistantRules,
): JsonObject {
  const fields: Record<string, Json> = {};
  const lists = reasoning.map(({ opaque }) => objectOf(opaque)?.["reasoning_details"]);
  const details = joinDetails(lists).map((detail) => renamed(detail, calls, ids));
  if (details.length > 0) fields["reasoning_details"] = details;
  if (!inLoop) return fields;
  for (const field of [bareField, "reasoning", "reasoning_text"]) {
    const text = joined(reasoning, field);
    if (text !== "") fields[field] = text;
  }
  // An empty field is refused like a missing one; white space is accepted.
  if (calls.length > 0 && demandsReasoning) fields[bareField] ??= " ";
  return fields;
}

/** Replaces the call id in a detail that signs a call. */
function renamed(detail: JsonObject, calls: readonly ToolCallPart[], ids: WireIds): JsonObject {
  const call = calls.find(({ opaque }) => {
    const id = givenId(opaque);
    return id !== undefined && id === detail["id"];
  });
  return call === undefined ? detail : { ...detail, id: ids.of(call.callId) };
}

/**
 * Gemini refuses a first call without a signature. This is its placeholder for calls of other
 * models.
 */
const unsigned = { google: { thought_signature: "skip_thought_signature_validator" } };
const signing = /(?:^|\/)gemini-[3-9]/;

function callOf(call: ToolCallPart, at: number, { model, ids }: AssistantRules): JsonObject {
  const { tool, opaque, input } = call;
  const id = ids.take(call);
  const kept = objectOf(opaque);
  const extra = fieldsOf(kept);
  const isUnsigned = Object.keys(extra).length === 0 && at === 0 && signing.test(model);
  const extension = isUnsigned ? { extra_content: unsigned } : extra;
  const text = input?.["input"];
  if (kept?.["type"] === "custom" && typeof text === "string") {
    return { id, type: "custom", custom: { name: tool, input: text }, ...extension };
  }
  const body = { name: tool, arguments: argumentsOf(call) };
  return { id, type: "function", function: body, ...extension };
}

function fieldsOf(kept: JsonObject | undefined): JsonObject {
  const fields: Record<string, Json> = {};
  for (const name of callFields) {
    const value = kept?.[name];
    if (value !== undefined) fields[name] = value;
  }
  return fields;
}

/**
 * Servers parse the arguments, so faulty ones are sent as `{}`. The answer describes the fault.
 */
function argumentsOf({ raw, fault }: ToolCallPart): string {
  return fault !== undefined || raw.trim() === "" ? "{}" : raw;
}
