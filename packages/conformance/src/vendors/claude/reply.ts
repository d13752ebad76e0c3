import type { JsonObject } from "@millrace/core";
import { pieces } from "../sse.ts";
import { textAt } from "../json.ts";
import type { PlainReply } from "../vendor.ts";
import type { ClaudeCharge } from "./cache.ts";

/** A reply of Claude in its own terms, before it is framed. */
export interface ClaudeReply {
  readonly id: string;
  readonly model: string;
  readonly blocks: readonly JsonObject[];
  readonly stop: string;
  readonly charge: ClaudeCharge;
  readonly outputTokens: number;
  /** Undefined without the beta that reports them. */
  readonly transformations: readonly JsonObject[] | undefined;
}

/** The blocks of a scripted reply. `signature` is for its thinking. */
export function replyBlocks(
  { think, text, calls = [] }: PlainReply,
  { id, signature }: { readonly id: string; readonly signature: string },
): readonly JsonObject[] {
  return [
    ...(think === undefined
      ? []
      : [{ type: "thinking", thinking: think === true ? "" : think, signature }]),
    ...(text === undefined ? [] : [{ type: "text", text }]),
    ...calls.map((call, at) => ({
      type: "tool_use",
      id: call.id ?? `toolu_${id}_${at}`,
      name: call.name,
      input: call.input,
    })),
  ];
}

/** The vendor's name for how a reply ends. */
export function stopReason({ stop, calls = [] }: PlainReply): string {
  if (stop === "length") return "max_tokens";
  if (stop === "filtered") return "refusal";
  if (stop === "paused") return "pause_turn";
  return calls.length > 0 ? "tool_use" : "end_turn";
}

/** The usage of a reply. The tokens of a summary are listed as an iteration only. */
export function usageOf({ charge, outputTokens: output, stop }: ClaudeReply): JsonObject {
  const counts = {
    input_tokens: charge.plain,
    cache_read_input_tokens: charge.read,
    cache_creation_input_tokens: charge.write5m + charge.write1h,
    cache_creation: {
      ephemeral_5m_input_tokens: charge.write5m,
      ephemeral_1h_input_tokens: charge.write1h,
    },
  };
  if (stop !== "compaction") return { ...counts, output_tokens: output };
  return {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation_input_tokens: 0,
    iterations: [{ type: "compaction", ...counts, output_tokens: output }],
  };
}

/** The events of the Messages API. */
export function claudeEvents(reply: ClaudeReply): readonly JsonObject[] {
  const { id, model, blocks, stop, transformations } = reply;
  const usage = usageOf(reply);
  return [
    {
      type: "message_start",
      message: {
        id: `msg_${id}`,
        type: "message",
        role: "assistant",
        model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { ...usage, output_tokens: stop === "compaction" ? 0 : 1 },
        ...(transformations === undefined ? {} : { input_transformations: [...transformations] }),
      },
    },
    ...blocks.flatMap(blockEvents),
    { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

function blockEvents(block: JsonObject, index: number): readonly JsonObject[] {
  const { start, deltas } = streamed(block);
  return [
    { type: "content_block_start", index, content_block: start },
    ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
    { type: "content_block_stop", index },
  ];
}

/** How a block is streamed: its start, and what is added to it. A summary comes whole. */
function streamed(block: JsonObject): {
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
} {
  const text = (key: string): readonly string[] => pieces(textAt(block, key) ?? "");
  switch (block["type"]) {
    case "thinking":
      return {
        start: { ...block, thinking: "", signature: "" },
        deltas: [
          ...text("thinking").map((thinking) => ({ type: "thinking_delta", thinking })),
          { type: "signature_delta", signature: block["signature"] ?? "" },
        ],
      };
    case "text":
      return {
        start: { ...block, text: "" },
        deltas: text("text").map((piece) => ({ type: "text_delta", text: piece })),
      };
    case "tool_use":
      return {
        start: { ...block, input: {} },
        deltas: pieces(JSON.stringify(block["input"])).map((piece) => ({
          type: "input_json_delta",
          partial_json: piece,
        })),
      };
    default:
      return { start: block, deltas: [] };
  }
}
