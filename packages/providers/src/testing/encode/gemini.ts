import type { JsonObject } from "@millrace/core";
import type { LogicalCall, LogicalReply, LogicalStop, LogicalUsage } from "../replies.ts";
import type { Encoded } from "./encoded.ts";
import { canStream, partialCall } from "./gemini-partial.ts";
import type { Random } from "../../../../../tests/kit/random.ts";
import { SseWriter } from "./sse.ts";
import { pieces } from "./weave.ts";

/** Gemini's streamGenerateContent. Calls are whole, or in paths as Vertex streams them. */
export function encodeGemini(reply: LogicalReply, random: Random): Encoded {
  const ids = random.chance(0.7);
  const streams = random.chance(0.3);
  const parts = reply.parts.flatMap((part): readonly JsonObject[] => {
    if (part.kind === "tool_call") return callParts(part, { ids, streams }, random);
    const thought: JsonObject = part.kind === "reasoning" ? { thought: true } : {};
    const cut = part.text === "" ? [""] : pieces(part.text, random);
    return cut.map((piece, at) => {
      const signed = at === cut.length - 1 && part.signature !== undefined;
      return { text: piece, ...thought, ...(signed ? { thoughtSignature: part.signature } : {}) };
    });
  });
  const writer = new SseWriter(random);
  writeChunks(writer, { reply, parts }, random);
  return {
    bytes: writer.bytes(),
    preserved: {
      order: true,
      raw: false,
      ids,
      whole: true,
      signatures: { text: true, reasoning: true, tool_call: true },
      cacheWriteTokens: false,
      reasoningTokens: true,
    },
  };
}

interface CallStyle {
  readonly ids: boolean;
  readonly streams: boolean;
}

function callParts(call: LogicalCall, style: CallStyle, random: Random): readonly JsonObject[] {
  const signed: JsonObject =
    call.signature === undefined ? {} : { thoughtSignature: call.signature };
  const id: JsonObject = style.ids ? { id: call.id } : {};
  const name: JsonObject = { ...id, name: call.tool };
  if (call.input === undefined || (style.streams && canStream(call.input))) {
    return partialCall(call, { name, signed }, random);
  }
  const bare = Object.keys(call.input).length === 0 && random.chance(0.5);
  return [{ functionCall: bare ? name : { ...name, args: call.input }, ...signed }];
}

interface ContentBody {
  readonly reply: LogicalReply;
  readonly parts: readonly JsonObject[];
}

function writeChunks(writer: SseWriter, { reply, parts }: ContentBody, random: Random): void {
  const everywhere = random.chance(0.7);
  const base = { modelVersion: "gemini-3.5-pro", responseId: "x7vPaI2LJdS6nvgPxrqYkAI" };
  const usage = usageJson(reply.usage, random);
  const soFar: JsonObject = random.chance(0.5)
    ? { trafficType: "ON_DEMAND" }
    : { ...usage, candidatesTokenCount: 1 };
  const index: JsonObject = random.chance(0.8) ? { index: 0 } : {};
  const chunk = (rows: readonly JsonObject[], finish: JsonObject): JsonObject => {
    const last = finish["finishReason"] !== undefined;
    const content: JsonObject = { content: { role: "model", parts: rows } };
    const empty = random.pick<JsonObject>([
      {},
      { content: {} },
      { content: { role: "model" } },
      { content: { parts: [{ text: "" }], role: "model" } },
    ]);
    return {
      candidates: [{ ...(rows.length === 0 ? empty : content), ...finish, ...index }],
      ...(last || everywhere ? { usageMetadata: last ? usage : soFar } : {}),
      ...base,
    };
  };
  const groups = grouped(parts, random);
  const finish = finishJson(reply.stop, random);
  // Old models and gateways give a reason with every event, and some before any content.
  const stamp: JsonObject = random.chance(0.05) ? { finishReason: "STOP" } : {};
  const isStamped = stamp["finishReason"] !== undefined;
  const apart = groups.length === 0 || isStamped || random.chance(0.4);
  if (random.chance(0.05)) writer.event(chunk([], { finishReason: "STOP" }));
  for (const [at, group] of groups.entries()) {
    writer.event(chunk(group, !apart && at === groups.length - 1 ? finish : stamp));
  }
  if (apart) writer.event(chunk([], finish));
  if (random.chance(0.05)) writer.event("[DONE]");
}

/** One part in each chunk, or several. */
function grouped(parts: readonly JsonObject[], random: Random): readonly (readonly JsonObject[])[] {
  const most = random.chance(0.6) ? 1 : 4;
  const groups: (readonly JsonObject[])[] = [];
  for (let at = 0; at < parts.length;) {
    const next = at + 1 + random.below(most);
    groups.push(parts.slice(at, next));
    at = next;
  }
  return groups;
}

function finishJson(stop: LogicalStop, random: Random): JsonObject {
  switch (stop) {
    case "end":
    case "tools":
      return { finishReason: "STOP" };
    case "length":
      return { finishReason: "MAX_TOKENS" };
    case "filtered": {
      const reasons = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"];
      return { finishReason: random.pick(reasons), finishMessage: "The content was stopped." };
    }
    default:
      return stop satisfies never;
  }
}

/** Thoughts are not part of the candidates' count, and tool input not part of the prompt's. */
function usageJson(usage: LogicalUsage, random: Random): JsonObject {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = usage;
  const fromTools = random.chance(0.1) ? random.below(inputTokens - cachedTokens) : 0;
  return {
    promptTokenCount: inputTokens - fromTools,
    candidatesTokenCount: outputTokens - reasoningTokens,
    totalTokenCount: inputTokens + outputTokens,
    ...(cachedTokens > 0 ? { cachedContentTokenCount: cachedTokens } : {}),
    ...(reasoningTokens > 0 ? { thoughtsTokenCount: reasoningTokens } : {}),
    ...(fromTools > 0 ? { toolUsePromptTokenCount: fromTools } : {}),
    promptTokensDetails: [{ modality: "TEXT", tokenCount: inputTokens - fromTools }],
  };
}
