import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { LogicalReply, LogicalUsage } from "../replies.ts";
import type { Encoded } from "./encoded.ts";
import { responseItem } from "./openai-responses-items.ts";
import type { ItemStyle, ResponseItem } from "./openai-responses-items.ts";
import type { Random } from "../../../../../tests/kit/random.ts";
import { SseWriter } from "./sse.ts";
import { weave } from "./weave.ts";

/** OpenAI's Responses, with the events that imitators omit. */
export function encodeOpenaiResponses(reply: LogicalReply, random: Random): Encoded {
  const style: ItemStyle = {
    omitsRepeats: random.chance(0.2),
    lateSecret: random.chance(0.15),
    obfuscated: random.chance(0.3),
  };
  const cut = reply.stop === "length" || reply.stop === "filtered";
  const items = reply.parts.map((part, at) => {
    const incomplete = cut && at === reply.parts.length - 1;
    return responseItem(part, { at, style, incomplete }, random);
  });
  const writer = new SseWriter(random);
  writeEvents(writer, { reply, items, style }, random);
  return {
    bytes: writer.bytes(),
    preserved: {
      order: true,
      raw: true,
      ids: true,
      whole: true,
      signatures: { text: false, reasoning: true, tool_call: false },
      cacheWriteTokens: false,
      reasoningTokens: true,
    },
  };
}

interface ResponseBody {
  readonly reply: LogicalReply;
  readonly items: readonly ResponseItem[];
  readonly style: ItemStyle;
}

function writeEvents(writer: SseWriter, body: ResponseBody, random: Random): void {
  const { reply, items, style } = body;
  const named = random.chance(0.9);
  const numberOf = random.chance(0.7) ? numberings.dense : random.pick(Object.values(numberings));
  const repeats = numberOf === numberings.dense && random.chance(0.05);
  let number = 0;
  const write = (event: JsonObject): void => {
    const full = { ...event, ...numberOf(number) };
    const name = named ? event["type"] : undefined;
    number += 1;
    writer.event(full, name);
    if (repeats && random.chance(0.2)) writer.event(full, name);
  };
  const base = responseBase(random);
  if (random.chance(0.95)) {
    write({ type: "response.created", response: { ...base, status: "in_progress", output: [] } });
  }
  if (random.chance(0.1)) {
    write({ type: "response.queued", response: { ...base, status: "queued", output: [] } });
  }
  if (random.chance(0.9)) {
    write({
      type: "response.in_progress",
      response: { ...base, status: "in_progress", output: [] },
    });
  }
  const alive = random.chance(0.1);
  const lanes = items.map(({ lead, events }) => [lead, ...events.map((event) => [event])]);
  const place = random.chance(0.8) ? places.own : random.pick(Object.values(places));
  // Items at one index are told apart by what ends before the next begins.
  const rows = place === places.shared ? lanes.flat(2) : weave(lanes, random).flat();
  for (const [at, event] of rows.entries()) {
    write(place(event, at));
    if (alive && random.chance(0.1)) write({ type: "keepalive" });
  }
  // The last event repeats the items. Some servers omit them.
  const output =
    style.lateSecret || style.omitsRepeats || random.chance(0.85)
      ? items.map(({ item }) => item)
      : [];
  write(lastEvent(reply, { ...base, output, usage: usageJson(reply.usage) }));
  if (random.chance(0.1)) writer.event("[DONE]");
}

/** How servers number their events. */
const numberings = {
  dense: (number: number): JsonObject => ({ sequence_number: number }),
  none: (): JsonObject => ({}),
  zero: (): JsonObject => ({ sequence_number: 0 }),
  gaps: (number: number): JsonObject => ({ sequence_number: number * 3 }),
  restarts: (number: number): JsonObject => ({ sequence_number: number % 5 }),
};

/** How servers name the items of their events: by an index and an id, or by one of them. */
const places = {
  own: (event: JsonObject): JsonObject => event,
  shared: (event: JsonObject): JsonObject => ({ ...event, output_index: 0 }),
  noIndex: (event: JsonObject): JsonObject => {
    const { output_index: _, ...rest } = event;
    return rest;
  },
  changingIds: (event: JsonObject, at: number): JsonObject => {
    const id = `it_${at}`;
    const { item } = event;
    return isJsonObject(item) ? { ...event, item: { ...item, id } } : { ...event, item_id: id };
  },
};

function responseBase(random: Random): JsonObject {
  return {
    id: "resp_67c9fdcecf488190bdd9a0409de3a1ec07b8b0ad4e5eb654",
    object: "response",
    created_at: 1_741_290_958,
    error: null,
    incomplete_details: null,
    instructions: null,
    model: "gpt-5.2-2026-02-11",
    parallel_tool_calls: true,
    usage: null,
    ...(random.chance(0.5)
      ? { store: false, temperature: 1, metadata: {}, tool_choice: "auto" }
      : {}),
  };
}

function lastEvent({ stop }: LogicalReply, response: JsonObject): JsonObject {
  if (stop === "end" || stop === "tools") {
    return { type: "response.completed", response: { ...response, status: "completed" } };
  }
  const reason = stop === "length" ? "max_output_tokens" : "content_filter";
  return {
    type: "response.incomplete",
    response: { ...response, status: "incomplete", incomplete_details: { reason } },
  };
}

function usageJson(usage: LogicalUsage): JsonObject {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}
