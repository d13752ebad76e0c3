import { callId, itemId, partId } from "@millrace/core/writing";
import type { Item, Json, JsonObject, Part, Transcript } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { sseFraming } from "../framing/sse.ts";
import { openaiChatProtocol } from "../protocols/openai-chat/protocol.ts";
import { decode } from "./decode.ts";
import { bytesOf } from "./fixtures.ts";

/** The model of the requests. */
export const model: string = "gpt-5.2";

export function bodyOf(
  transcript: Transcript,
  more: Partial<ModelRequest> = {},
  name = model,
): JsonObject {
  return openaiChatProtocol.request({ transcript, ...more }, { model: name }).body;
}

export function messagesOf(transcript: Transcript, name = model): Json {
  return bodyOf(transcript, {}, name)["messages"] ?? null;
}

let count = 0;
export const item = (author: Item["author"], parts: readonly Part[], more: object = {}): Item => {
  count += 1;
  return { id: itemId(`i${count}`), author, parts, stop: "end", ...more };
};
export const text = (content: string, id = "t"): Part => ({
  kind: "text",
  id: partId(id),
  text: content,
});
export const says = (content: string): Item => item("user", [text(content)]);
export const native: { readonly model: string } = { model: `openai-chat/${model}` };
export const foreign: { readonly model: string } = { model: "anthropic-messages/claude" };

export const call = (id: string, more: object = {}): Part => ({
  kind: "tool_call",
  id: partId(id),
  callId: callId(id),
  tool: "look",
  raw: '{"at":"sky"}',
  input: { at: "sky" },
  ...more,
});
export const answer = (id: string, more: object = {}): Part => ({
  kind: "tool_result",
  id: partId(`r-${id}`),
  callId: callId(id),
  tool: "look",
  status: "ok",
  text: "blue",
  ...more,
});
export const reasoning = (content: string, opaque?: Json): Part => ({
  kind: "reasoning",
  id: partId(`why-${content}`),
  text: content,
  ...(opaque === undefined ? {} : { opaque }),
});

export const sent = (id: string, more: object = {}): JsonObject => ({
  id,
  type: "function",
  function: { name: "look", arguments: '{"at":"sky"}' },
  ...more,
});
export const result = (id: string, content = "blue"): JsonObject => ({
  role: "tool",
  tool_call_id: id,
  content,
});
export const user = (content: Json): JsonObject => ({ role: "user", content });

/** The item of a fixture's reply. */
export function replyOf(fixture: string, author = native.model): Item {
  const { draft } = decode(openaiChatProtocol, sseFraming(), [bytesOf("openai-chat", fixture)]);
  const parts = draft.parts.flatMap((part) => (part.state === "committed" ? [part.part] : []));
  return item("model", parts, { stop: "tools", model: author });
}

export function answersTo(reply: Item): Item {
  const calls = reply.parts.flatMap((part) => (part.kind === "tool_call" ? [part.callId] : []));
  return item(
    "tool",
    calls.map((id) => answer(id)),
  );
}
