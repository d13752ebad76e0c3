import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { CacheSettings, ModelSettings } from "@millrace/core/ports";
import { listAt } from "../read.ts";
import { refuse } from "../settings.ts";
import { breakpoint } from "./content.ts";
import { isThinking } from "./entry.ts";
import { anthropicSettings } from "./settings.ts";

/** The vendor refuses more. */
const most = 4;

/** Instructions stand behind the tools, and so keep them too. */
const everything: CacheSettings = { instructions: true, items: true };

/**
 * Puts a breakpoint behind what is to be kept: the last block of the instructions, the last tool, the
 * last block of the last message. Blocks of parts that are marked have theirs already. One more stands
 * before the last reply, where the request before ended, if there is room for it: the vendor looks back
 * 20 blocks from a breakpoint, and a turn may have more.
 */
export function withBreakpoints(body: JsonObject, cache: ModelSettings["cache"]): JsonObject {
  const asked = typeof cache === "object" ? cache : cache === true ? everything : {};
  const mark = asked.ttl === undefined ? breakpoint : { ...breakpoint, ttl: asked.ttl };
  const hasSystem = body["system"] !== undefined;
  const keepsTools = asked.tools === true || (asked.instructions === true && !hasSystem);
  const messages = listAt(body, "messages");
  const before = lastKept(messages, messages.findLastIndex(isReply));
  const ends = asked.items === true ? [lastKept(messages, messages.length), before] : [];
  let marked: JsonObject = {
    ...body,
    ...(asked.instructions === true ? markedSystem(body["system"], mark) : {}),
    ...(keepsTools ? markedTools(body, mark) : {}),
    messages: withTtl(messages, mark),
  };
  for (const end of ends) {
    const more = { ...marked, messages: markedMessage(listAt(marked, "messages"), end, mark) };
    if (end !== before || countIn(more) <= most) marked = more;
  }
  const count = countIn(marked);
  if (count > most) {
    const instead = `the request has ${count} breakpoints and may have ${most}: mark fewer parts, or less in the setting`;
    throw refuse(anthropicSettings, "cache", cache ?? "of parts", instead);
  }
  return marked;
}

/** The place of the last message before this one that takes a mark: those for one turn take none. */
function lastKept(messages: readonly Json[], end: number): number {
  return messages
    .slice(0, Math.max(0, end))
    .findLastIndex((message) => isJsonObject(message) && message["clear_at"] === undefined);
}

function isReply(message: Json): boolean {
  return isJsonObject(message) && message["role"] === "assistant";
}

function markedSystem(system: Json | undefined, mark: JsonObject): JsonObject {
  if (system === undefined) return {};
  const blocks: readonly Json[] = Array.isArray(system) ? system : [{ type: "text", text: system }];
  return { system: withMarkAt(blocks, blocks.length - 1, mark) };
}

function markedTools(body: JsonObject, mark: JsonObject): JsonObject {
  const tools = listAt(body, "tools");
  return tools.length === 0 ? {} : { tools: withMarkAt(tools, tools.length - 1, mark) };
}

function markedMessage(messages: readonly Json[], at: number, mark: JsonObject): readonly Json[] {
  const message = messages[at];
  if (!isJsonObject(message)) return messages;
  const content = listAt(message, "content");
  // Thinking is kept with what follows it, and takes no mark.
  const last = content.findLastIndex((block) => isJsonObject(block) && !isThinking(block));
  return messages.with(at, { ...message, content: withMarkAt(content, last, mark) });
}

function withMarkAt(blocks: readonly Json[], at: number, mark: JsonObject): readonly Json[] {
  const block = blocks[at];
  return isJsonObject(block) ? blocks.with(at, { cache_control: mark, ...block }) : blocks;
}

/** Gives the marks of parts the time to live of the settings: the vendor takes no short one before a long one. */
function withTtl(messages: readonly Json[], mark: JsonObject): readonly Json[] {
  if (mark["ttl"] === undefined) return messages;
  return messages.map((message) => {
    if (!isJsonObject(message)) return message;
    const content = listAt(message, "content").map((block) =>
      isJsonObject(block) && block["cache_control"] === breakpoint
        ? { ...block, cache_control: mark }
        : block,
    );
    return { ...message, content };
  });
}

/** The breakpoints of a request: its own one, of instructions, tools and blocks, and inside of results. */
function countIn(body: JsonObject): number {
  const blocks = listAt(body, "messages").flatMap((message) => contentOf(message));
  const inside = blocks.flatMap((block) => contentOf(block));
  const places = [body, ...listAt(body, "system"), ...listAt(body, "tools"), ...blocks, ...inside];
  return places.filter((place) => isJsonObject(place) && isJsonObject(place["cache_control"]))
    .length;
}

function contentOf(value: Json): readonly Json[] {
  return isJsonObject(value) ? listAt(value, "content") : [];
}
