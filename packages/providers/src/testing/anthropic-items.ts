import { callId, itemId, partId } from "@millrace/core/writing";
import type {
  FilePart,
  Item,
  Json,
  JsonObject,
  MediaPart,
  Part,
  ToolResultPart,
} from "@millrace/core";
import type { ModelRequest, ToolDescription } from "@millrace/core/ports";
import { anthropicMessagesProtocol } from "../protocols/anthropic-messages/protocol.ts";

/** The model of the requests. */
export const model: string = "claude-sonnet-4-5";
export const native: string = `anthropic-messages/${model}`;
let count = 0;

export function item(
  author: Item["author"],
  parts: readonly Part[],
  more: Partial<Item> = {},
): Item {
  count += 1;
  return { id: itemId(`i${count}`), author, parts, stop: "end", ...more } as Item;
}

export const text = (value: string, metadata?: JsonObject): Part => ({
  kind: "text",
  id: partId(`t${(count += 1)}`),
  text: value,
  ...(metadata === undefined ? {} : { metadata }),
});
export const user = (...parts: readonly (Part | string)[]): Item =>
  item(
    "user",
    parts.map((part) => (typeof part === "string" ? text(part) : part)),
  );
export const says = (...parts: readonly (Part | string)[]): Item =>
  item(
    "model",
    parts.map((part) => (typeof part === "string" ? text(part) : part)),
    {
      model: native,
    },
  );
export const thought = (value: string, opaque?: Json): Part => ({
  kind: "reasoning",
  id: partId(`r${(count += 1)}`),
  text: value,
  ...(opaque === undefined ? {} : { opaque }),
});
export const signed = (value: string): Part =>
  thought(value, { type: "thinking", signature: "c2ln" });
export const call = (id: string, input: JsonObject = {}, metadata?: JsonObject): Part => ({
  kind: "tool_call",
  id: partId(`c${(count += 1)}`),
  callId: callId(id),
  tool: "look",
  raw: JSON.stringify(input),
  input,
  ...(metadata === undefined ? {} : { metadata }),
});
export const result = (id: string, value: string, more: Partial<ToolResultPart> = {}): Part => ({
  kind: "tool_result",
  id: partId(`o${(count += 1)}`),
  callId: callId(id),
  tool: "look",
  status: "ok",
  text: value,
  ...more,
});
export const answers = (...parts: readonly Part[]): Item => item("tool", parts);
export const custom = (value: JsonObject | null, metadata?: JsonObject): Part => ({
  kind: "custom",
  id: partId(`k${(count += 1)}`),
  name: typeof value?.["type"] === "string" ? value["type"] : "none",
  value,
  ...(metadata === undefined ? {} : { metadata }),
});
export const media = (
  mediaType: string,
  source: { bytes: Uint8Array } | { url: string },
): MediaPart => ({
  kind: "media",
  id: partId(`m${(count += 1)}`),
  mediaType,
  ...source,
});
export const file = (
  mediaType: string,
  source: { bytes: Uint8Array } | { url: string },
): FilePart => ({
  kind: "file",
  id: partId(`f${(count += 1)}`),
  name: "notes",
  mediaType,
  ...source,
});

export function bodyOf(transcript: readonly Item[], more: Partial<ModelRequest> = {}): JsonObject {
  return anthropicMessagesProtocol.request({ transcript, ...more }, { model }).body;
}

export function messagesOf(transcript: readonly Item[], more: Partial<ModelRequest> = {}): Json {
  return bodyOf(transcript, more)["messages"] ?? null;
}

export const textBlock = (value: string): JsonObject => ({ type: "text", text: value });
export const look: ToolDescription = {
  name: "look",
  description: "Looks.",
  input: { type: "object" },
};
