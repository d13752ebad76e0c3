/** Anthropic's SDK: the helper that accumulates a message. */
import Anthropic from "@anthropic-ai/sdk";
import { countsOf, joinReasoning, parsedCall } from "../reading.ts";
import type { Reading } from "../reading.ts";
import type { Source } from "./contender.ts";

const stops: Readonly<Record<string, string>> = {
  end_turn: "end",
  stop_sequence: "end",
  tool_use: "tools",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "filtered",
  pause_turn: "paused",
  compaction: "paused",
};

export async function readMessage({ base, model }: Source): Promise<Reading> {
  const client = new Anthropic({ apiKey: "k", baseURL: base, maxRetries: 0, logLevel: "off" });
  const {
    content,
    stop_reason: reason,
    usage,
  } = await client.messages
    .stream({ model, max_tokens: 64_000, messages: [{ role: "user", content: "go" }] })
    .finalMessage();
  const { input_tokens: fresh, cache_read_input_tokens: read } = usage;
  const written = usage.cache_creation_input_tokens;
  return {
    failed: false,
    text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
    reasoning: joinReasoning(
      content.flatMap((block) => (block.type === "thinking" ? [block.thinking] : [])),
    ),
    calls: content.flatMap((block) =>
      block.type === "tool_use" ? [parsedCall(block.name, block.input)] : [],
    ),
    stop: stops[reason ?? ""] ?? String(reason),
    // The vendor counts what its cache read and wrote beside the input.
    usage: countsOf((fresh ?? 0) + (read ?? 0) + (written ?? 0), usage.output_tokens, {
      cached: read,
      reasoning: usage.output_tokens_details?.thinking_tokens,
    }),
  };
}
