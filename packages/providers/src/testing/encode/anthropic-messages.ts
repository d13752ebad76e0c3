import type { Json, JsonObject } from "@millrace/core";
import type { LogicalReply, LogicalStop, LogicalUsage } from "../replies.ts";
import { anthropicBlock } from "./anthropic-blocks.ts";
import type { BlockStyle } from "./anthropic-blocks.ts";
import type { Encoded } from "./encoded.ts";
import type { Random } from "../../../../../tests/kit/random.ts";
import { SseWriter } from "./sse.ts";
import { weave } from "./weave.ts";

/** Writes events in one framing. */
export interface EventWriter {
  readonly event: (data: JsonObject, name?: Json) => void;
  readonly bytes: () => Uint8Array;
}

/** Anthropic's Messages, as the vendor and the servers that imitate it send them. */
export function encodeAnthropicMessages(reply: LogicalReply, random: Random): Encoded {
  return encodeAnthropicBy(new SseWriter(random), reply, random);
}

/** The same events in another framing. */
export function encodeAnthropicBy(
  writer: EventWriter,
  reply: LogicalReply,
  random: Random,
): Encoded {
  const whole = reply.parts.every((part) => part.kind !== "tool_call" || part.input !== undefined);
  const style: BlockStyle = {
    indexed: random.chance(0.95),
    stride: random.chance(0.9) ? 1 : random.pick([0, 3]),
    wholeInput: whole && random.chance(0.1),
    early: random.chance(0.1),
    unknownDeltas: random.chance(0.05),
  };
  const lanes = reply.parts.map((part, at) => anthropicBlock(part, { at, style }, random));
  // Without an index of its own a block can't be told from others, so blocks follow one another.
  const isWoven = style.indexed && style.stride > 0;
  writeEvents(writer, { reply, events: isWoven ? weave(lanes, random) : lanes.flat() }, random);
  return {
    bytes: writer.bytes(),
    preserved: {
      order: true,
      raw: !style.wholeInput,
      ids: true,
      whole: true,
      signatures: { text: false, reasoning: true, tool_call: false },
      cacheWriteTokens: true,
      reasoningTokens: false,
    },
  };
}

interface MessageBody {
  readonly reply: LogicalReply;
  readonly events: readonly JsonObject[];
}

function writeEvents(writer: EventWriter, { reply, events }: MessageBody, random: Random): void {
  const named = random.chance(0.9);
  const pinged = random.chance(0.4);
  const write = (event: JsonObject): void => {
    writer.event(event, named ? event["type"] : undefined);
    if (pinged && random.chance(0.15)) ping();
  };
  const ping = (): void => writer.event({ type: "ping" }, named ? "ping" : undefined);
  if (random.chance(0.05)) ping();
  const start = messageStart(reply.usage, random);
  write(start);
  if (random.chance(0.05)) write(start);
  if (random.chance(0.7)) ping();
  for (const event of events) write(event);
  const last = messageDelta(reply, random);
  if (random.chance(0.05)) {
    write({ ...last, delta: { stop_reason: null, stop_sequence: null } });
  }
  write(last);
  // A stop reason and no open block are enough.
  if (random.chance(0.95)) write({ type: "message_stop" });
}

function messageStart(usage: LogicalUsage, random: Random): JsonObject {
  return {
    type: "message_start",
    message: {
      id: "msg_01XFDUDYJgAACzvnptvVoYEL",
      type: "message",
      role: "assistant",
      model: "claude-opus-4-8",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        ...inputJson(usage),
        output_tokens: 1,
        ...(random.chance(0.5) ? { service_tier: "standard" } : {}),
      },
    },
  };
}

/** Cached tokens are not part of the input. */
function inputJson({ inputTokens, cachedTokens, cacheWriteTokens }: LogicalUsage): JsonObject {
  return {
    input_tokens: inputTokens - cachedTokens - cacheWriteTokens,
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
  };
}

/** Cumulative counts, all of them or only the output. Null means unknown. */
function messageDelta({ stop, usage }: LogicalReply, random: Random): JsonObject {
  const input = random.pick<JsonObject>([
    {},
    inputJson(usage),
    { input_tokens: null, cache_creation_input_tokens: null, cache_read_input_tokens: null },
  ]);
  return {
    type: "message_delta",
    delta: stopJson(stop, random),
    usage: { ...input, output_tokens: usage.outputTokens },
  };
}

function stopJson(stop: LogicalStop, random: Random): JsonObject {
  const sequence: Json = stop === "end" && random.chance(0.1) ? "\n\nHuman:" : null;
  return {
    stop_reason: sequence === null ? reason(stop, random) : "stop_sequence",
    stop_sequence: sequence,
  };
}

function reason(stop: LogicalStop, random: Random): string {
  switch (stop) {
    case "end":
      return "end_turn";
    case "tools":
      return "tool_use";
    case "length":
      return random.chance(0.8) ? "max_tokens" : "model_context_window_exceeded";
    case "filtered":
      return "refusal";
    default:
      return stop satisfies never;
  }
}
