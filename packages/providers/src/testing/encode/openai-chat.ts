import type { Json, JsonObject } from "@millrace/core";
import { isPlain } from "../replies.ts";
import type {
  LogicalCall,
  LogicalPart,
  LogicalReply,
  LogicalStop,
  LogicalUsage,
} from "../replies.ts";
import type { Encoded } from "./encoded.ts";
import { chatCalls, chatCallStyle } from "./openai-chat-calls.ts";
import type { ChatCallStyle } from "./openai-chat-calls.ts";
import type { Random } from "../../../../../tests/kit/random.ts";
import { SseWriter } from "./sse.ts";
import { pieces, weave } from "./weave.ts";

type ReasoningStyle = "reasoning_content" | "reasoning" | "reasoning_text" | "both" | "details";

/** OpenAI's chat completions, and what the servers that imitate them make of it. */
export function encodeOpenaiChat(reply: LogicalReply, random: Random): Encoded {
  const calls = chatCallStyle(reply, random);
  const reasoning = reasoningStyle(reply, random);
  const deltas = chatDeltas(reply, { calls, reasoning }, random);
  const writer = new SseWriter(random);
  writeChunks(writer, { reply, deltas, legacy: calls === "legacy" }, random);
  return {
    bytes: writer.bytes(),
    preserved: {
      // Reasoning without a text belongs to the whole reply and has no place among the parts.
      order: isPlain(reply) && !reply.parts.some(isHidden),
      raw: calls !== "object",
      ids: calls !== "legacy",
      whole: false,
      signatures: {
        text: false,
        reasoning: reasoning === "details",
        tool_call: calls !== "legacy",
      },
      cacheWriteTokens: true,
      reasoningTokens: true,
    },
  };
}

function isHidden(part: LogicalPart): boolean {
  return part.kind === "reasoning" && part.text === "";
}

/** Only details can express reasoning without a text. */
function reasoningStyle({ parts }: LogicalReply, random: Random): ReasoningStyle {
  if (parts.some(isHidden) || random.chance(0.3)) return "details";
  return random.pick(["reasoning_content", "reasoning", "reasoning_text", "both"]);
}

interface ChatStyle {
  readonly calls: ChatCallStyle;
  readonly reasoning: ReasoningStyle;
}

function chatDeltas(
  { parts }: LogicalReply,
  style: ChatStyle,
  random: Random,
): readonly JsonObject[] {
  const asList = random.chance(0.1);
  const deltas: JsonObject[] = [];
  let group: LogicalCall[] = [];
  let index = random.chance(0.9) ? 0 : 1;
  const flush = (): void => {
    if (group.length === 0) return;
    const lanes = chatCalls(group, { style: style.calls, first: index }, random);
    // A call begins with its name, so late names are in order only when the calls are.
    deltas.push(...(style.calls === "late" ? lanes.flat() : weave(lanes, random)));
    index += group.length;
    group = [];
  };
  for (const part of parts) {
    if (part.kind === "tool_call") {
      group.push(part);
      continue;
    }
    flush();
    if (part.kind === "text") {
      for (const piece of pieces(part.text, random)) {
        deltas.push({ content: asList ? [{ type: "text", text: piece }] : piece });
      }
    } else {
      deltas.push(...reasoningDeltas(part.text, part.signature, { style, random }));
    }
  }
  flush();
  return random.chance(0.15) ? merged(deltas, random) : deltas;
}

const ranks = ["reasoning_content", "reasoning", "reasoning_text", "content", "tool_calls"];

/**
 * Joins some neighbours into one delta: several entries of calls, or fields in the order of their
 * parts.
 */
function merged(deltas: readonly JsonObject[], random: Random): readonly JsonObject[] {
  const rows: JsonObject[] = [];
  for (const delta of deltas) {
    const last = rows.at(-1);
    const [calls, more] = [last?.["tool_calls"], delta["tool_calls"]];
    if (last === undefined || random.chance(0.5)) rows.push(delta);
    else if (Array.isArray(calls) && Array.isArray(more)) {
      rows[rows.length - 1] = { ...last, tool_calls: [...(calls as Json[]), ...(more as Json[])] };
    } else if (rankOf(last).last < rankOf(delta).first)
      rows[rows.length - 1] = { ...last, ...delta };
    else rows.push(delta);
  }
  return rows;
}

function rankOf(delta: JsonObject): { readonly first: number; readonly last: number } {
  const found = Object.keys(delta).map((key) => ranks.indexOf(key));
  return { first: Math.min(...found), last: found.includes(-1) ? Infinity : Math.max(...found) };
}

function reasoningDeltas(
  text: string,
  signature: string | undefined,
  { style, random }: { readonly style: ChatStyle; readonly random: Random },
): readonly JsonObject[] {
  const format = "anthropic-claude-v1";
  if (style.reasoning !== "details") {
    return pieces(text, random).map((piece) => {
      if (style.reasoning === "both") return { reasoning: piece, reasoning_content: piece };
      return { [style.reasoning]: piece };
    });
  }
  if (text === "") {
    const data = signature ?? "";
    return [
      {
        content: "",
        reasoning: null,
        reasoning_details: [{ type: "reasoning.encrypted", data, format, index: 0 }],
      },
    ];
  }
  const shown = pieces(text, random).map((piece): JsonObject => {
    const detail = { type: "reasoning.text", text: piece, format, index: 0 };
    return { content: "", reasoning: piece, reasoning_details: [detail] };
  });
  if (signature === undefined) return shown;
  const detail = { type: "reasoning.text", signature, format, index: 0 };
  return [...shown, { content: "", reasoning: null, reasoning_details: [detail] }];
}

interface ChatBody {
  readonly reply: LogicalReply;
  readonly deltas: readonly JsonObject[];
  readonly legacy: boolean;
}

function writeChunks(writer: SseWriter, body: ChatBody, random: Random): void {
  const { reply, deltas } = body;
  const usage = usageJson(reply.usage, random);
  const place = random.pick(["last", "last", "finish", "every", "choice"]);
  const base: JsonObject = {
    id: "chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG",
    object: "chat.completion.chunk",
    created: 1_741_570_283,
    model: "gpt-5.2-2026-02-11",
    ...(random.chance(0.2) ? { service_tier: "default", system_fingerprint: "fp_fc9f1d7035" } : {}),
  };
  const obfuscated = random.chance(0.2);
  const logprobs: JsonObject = random.chance(0.5) ? { logprobs: null } : {};
  const chunk = (
    delta: JsonObject,
    rest: JsonObject = {},
    choice: JsonObject = {},
  ): JsonObject => ({
    ...base,
    choices: [{ index: 0, delta, ...logprobs, finish_reason: null, ...choice }],
    ...(place === "every" ? { usage } : {}),
    ...rest,
    ...(obfuscated ? { obfuscation: "k3Jd9" } : {}),
  });
  if (random.chance(0.1)) {
    const first = { prompt_index: 0, content_filter_results: {} };
    writer.event({ ...base, id: "", model: "", choices: [], prompt_filter_results: [first] });
  }
  const role = random.pick<JsonObject | undefined>([
    { role: "assistant", content: "" },
    { role: "assistant", content: null },
    { role: "assistant", content: "", refusal: null },
    undefined,
  ]);
  if (role !== undefined) writer.event(chunk(role));
  if (random.chance(0.1)) writer.comment("OPENROUTER PROCESSING");
  const other = random.chance(0.05);
  const early = deltas.length > 0 && random.chance(0.2) ? deltas.at(-1) : undefined;
  for (const delta of early === undefined ? deltas : deltas.slice(0, -1)) {
    writer.event(chunk(random.chance(0.1) ? { role: "assistant", ...delta } : delta));
    if (other) writer.event({ ...base, choices: [{ index: 1, delta: { content: "other" } }] });
  }
  const called = reply.parts.some(({ kind }) => kind === "tool_call");
  const finish = {
    finish_reason: finishReason(reply.stop, called && body.legacy, random),
    ...(place === "choice" ? { usage } : {}),
  };
  writer.event(chunk(early ?? {}, place === "finish" ? { usage } : {}, finish));
  if (random.chance(0.03)) writer.event(chunk({}, {}, finish));
  if (place === "last") writer.event({ ...base, choices: [], usage });
  // A reason beside content, or before all of it, proves nothing without the last event.
  const isEarly = early !== undefined || deltas.length === 0;
  if (isEarly || random.chance(0.85)) writer.event("[DONE]");
}

function finishReason(stop: LogicalStop, legacy: boolean, random: Random): Json {
  switch (stop) {
    case "end":
      return "stop";
    case "tools":
      if (random.chance(0.2)) return "stop";
      return legacy ? "function_call" : "tool_calls";
    case "length":
      return "length";
    case "filtered":
      return "content_filter";
    default:
      return stop satisfies never;
  }
}

/** OpenAI, DeepSeek and Moonshot each have their own field for cached tokens. */
function usageJson(usage: LogicalUsage, random: Random): JsonObject {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens, reasoningTokens } = usage;
  const written: JsonObject =
    cacheWriteTokens > 0 || random.chance(0.3) ? { cache_write_tokens: cacheWriteTokens } : {};
  const totals = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  const reasoned = {
    completion_tokens_details: { reasoning_tokens: reasoningTokens, audio_tokens: 0 },
  };
  const style = random.pick(["details", "details", "hit", "flat"]);
  if (style === "hit") {
    const miss = inputTokens - cachedTokens;
    return {
      ...totals,
      ...reasoned,
      prompt_cache_hit_tokens: cachedTokens,
      prompt_cache_miss_tokens: miss,
      ...(cacheWriteTokens > 0 ? { prompt_tokens_details: { ...written } } : {}),
    };
  }
  if (style === "flat" && cacheWriteTokens === 0) {
    return { ...totals, ...reasoned, cached_tokens: cachedTokens };
  }
  return {
    ...totals,
    prompt_tokens_details: { cached_tokens: cachedTokens, ...written, audio_tokens: 0 },
    ...reasoned,
  };
}
