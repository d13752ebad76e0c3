import type { JsonObject } from "@millrace/core";
import type { Random } from "../../../../../tests/kit/random.ts";
import type { LogicalPart, LogicalReply, LogicalStop, LogicalUsage } from "../replies.ts";
import { encodeAnthropicBy } from "./anthropic-messages.ts";
import { awsChunk, awsEvent, joined } from "./aws-event-stream.ts";
import type { Encoded } from "./encoded.ts";
import { pieces, weave } from "./weave.ts";

/** Anthropic's events as InvokeModelWithResponseStream wraps them. */
export function encodeBedrockAnthropic(reply: LogicalReply, random: Random): Encoded {
  const messages: Uint8Array[] = [];
  const writer = {
    event: (data: JsonObject): void => void messages.push(awsChunk(JSON.stringify(data))),
    bytes: () => joined(messages),
  };
  return encodeAnthropicBy(writer, reply, random);
}

interface Style {
  /** Leaves out the events that stop blocks, as some models do. */
  readonly unstopped: boolean;
  /** Adds deltas without content. */
  readonly empty: boolean;
  /** Adds a field of random length to each event, as the service does. */
  readonly padded: boolean;
}

/** Bedrock's ConverseStream, as the service sends it for models of several vendors. */
export function encodeBedrockConverse(reply: LogicalReply, random: Random): Encoded {
  const style: Style = {
    unstopped: random.chance(0.1),
    empty: random.chance(0.2),
    padded: random.chance(0.5),
  };
  const lanes = reply.parts.map((part, at) => blockEvents(part, at, { style, random }));
  // Text and reasoning are not announced, so that only their indexes separate them.
  const events = style.unstopped ? lanes.flat() : weave(lanes, random);
  const all: readonly Named[] = [
    ...(random.chance(0.97) ? [["messageStart", { role: "assistant" }] as const] : []),
    ...events,
    ["messageStop", { stopReason: stopReason(reply.stop, random) }],
    ["metadata", { usage: usageJson(reply.usage), metrics: { latencyMs: random.below(9_000) } }],
  ];
  const write = ([name, data]: Named): Uint8Array => {
    const padding = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    const p = style.padded ? { p: padding.slice(0, 1 + random.below(62)) } : {};
    return awsEvent(name, JSON.stringify({ ...data, ...p }));
  };
  return {
    bytes: joined(all.map(write)),
    preserved: {
      order: true,
      raw: true,
      ids: true,
      // Without its stop nothing shows that a call was whole when the reply was cut.
      whole: !style.unstopped,
      signatures: { text: false, reasoning: true, tool_call: false },
      cacheWriteTokens: true,
      reasoningTokens: false,
    },
  };
}

type Named = readonly [name: string, data: JsonObject];

function blockEvents(
  part: LogicalPart,
  contentBlockIndex: number,
  { style, random }: { readonly style: Style; readonly random: Random },
): readonly Named[] {
  const deltaOf = (delta: JsonObject): Named => ["contentBlockDelta", { contentBlockIndex, delta }];
  const stop: Named = ["contentBlockStop", { contentBlockIndex }];
  const { start, deltas } = blockOf(part, random);
  const empty = style.empty && part.kind !== "tool_call" ? [deltaOf({ text: "" })] : [];
  return [
    ...(start === undefined ? [] : [["contentBlockStart", { contentBlockIndex, start }] as const]),
    ...deltas.map(deltaOf),
    ...(part.kind === "text" ? empty : []),
    ...(style.unstopped ? [] : [stop]),
  ];
}

interface Block {
  readonly start?: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function blockOf(part: LogicalPart, random: Random): Block {
  switch (part.kind) {
    case "text":
      return { deltas: pieces(part.text, random).map((text) => ({ text })) };
    case "reasoning":
      return { deltas: reasoningDeltas(part, random) };
    case "tool_call": {
      const cut = pieces(part.raw, random);
      const lead = random.chance(0.3) ? ["", ...cut] : cut;
      return {
        start: { toolUse: { toolUseId: part.id, name: part.tool } },
        deltas: lead.map((input) => ({ toolUse: { input } })),
      };
    }
    default:
      return part satisfies never;
  }
}

function reasoningDeltas(
  { text, signature }: Extract<LogicalPart, { kind: "reasoning" }>,
  random: Random,
): readonly JsonObject[] {
  // A signature without text may be reasoning that was encrypted, whose bytes are cut anywhere.
  const isBase64 =
    signature !== undefined && Buffer.from(signature, "base64").toString("base64") === signature;
  if (text === "" && isBase64 && random.chance(0.5)) {
    const bytes = Buffer.from(signature, "base64");
    const middle = random.below(bytes.length + 1);
    return [bytes.subarray(0, middle), bytes.subarray(middle)].map((piece) => ({
      reasoningContent: { redactedContent: piece.toString("base64") },
    }));
  }
  const signed = signature === undefined ? [] : [{ reasoningContent: { signature } }];
  const texts = pieces(text, random).map((piece) => ({ reasoningContent: { text: piece } }));
  return [...texts, ...signed];
}

function stopReason(stop: LogicalStop, random: Random): string {
  switch (stop) {
    case "end":
      return random.chance(0.9) ? "end_turn" : "stop_sequence";
    case "tools":
      return random.chance(0.95) ? "tool_use" : "end_turn";
    case "length":
      return random.chance(0.8) ? "max_tokens" : "model_context_window_exceeded";
    case "filtered":
      return random.pick(["guardrail_intervened", "content_filtered"]);
    default:
      return stop satisfies never;
  }
}

/** Cached tokens are not part of the input, and the total has all of them. */
function usageJson(usage: LogicalUsage): JsonObject {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens } = usage;
  return {
    inputTokens: inputTokens - cachedTokens - cacheWriteTokens,
    outputTokens,
    totalTokens: inputTokens + outputTokens,
    cacheReadInputTokens: cachedTokens,
    cacheWriteInputTokens: cacheWriteTokens,
  };
}
