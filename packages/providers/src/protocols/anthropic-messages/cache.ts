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

const everything: CacheSettings = { instructions: true, tools: true, items: true };

/**
 * Puts a breakpoint behind what is to be kept: the last block of the instructions, the last tool, the
 * last block of the last message. Blocks of parts that are marked have theirs already.
 */
export function withBreakpoints(body: JsonObject, cache: ModelSettings["cache"]): JsonObject {
  const asked = typeof cache === "object" ? cache : cache === true ? everything : {};
  const mark = asked.ttl === undefined ? breakpoint : { ...breakpoint, ttl: asked.ttl };
  const marked: JsonObject = {
    ...body,
    ...(asked.instructions === true ? markedSystem(body["system"], mark) : {}),
    ...(asked.tools === true ? markedTools(body, mark) : {}),
    messages: withTtl(markedMessages(body, asked.items === true ? mark : undefined), mark),
  };
  const count = countIn(marked);
  if (count > most) {
    const instead = `the request has ${count} breakpoints and may have ${most}: mark fewer parts, or less in the setting`;
    throw refuse(anthropicSettings, "cache", cache ?? "of parts", instead);
  }
  return marked;
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

function markedMessages(body: JsonObject, mark: JsonObject | undefined): readonly Json[] {
  const messages = listAt(body, "messages");
  const last = messages.at(-1);
  if (mark === undefined || !isJsonObject(last)) return messages;
  const content = listAt(last, "content");
  // Thinking is kept with what follows it, and takes no mark.
  const at = content.findLastIndex((block) => isJsonObject(block) && !isThinking(block));
  return messages.with(messages.length - 1, { ...last, content: withMarkAt(content, at, mark) });
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
