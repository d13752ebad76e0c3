import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { CacheSettings, ModelSettings } from "@millrace/core/ports";
import { listAt, objectAt } from "../read.ts";
import { refuse } from "../settings.ts";
import { cachePoint } from "./content.ts";
import { bedrockSettings } from "./settings.ts";

/** The vendor refuses more. */
const most = 4;

/** Instructions stand behind the tools, and so keep them too. */
const everything: CacheSettings = { instructions: true, items: true };

/**
 * Puts a cache point behind what is to be kept: the instructions, the tools, the last message. One more
 * stands before the last reply, where the request before ended, if there is room for it.
 */
export function withCachePoints(
  body: JsonObject,
  cache: ModelSettings["cache"],
  model: string,
): JsonObject {
  const asked = typeof cache === "object" ? cache : cache === true ? everything : {};
  const ttl = asked.ttl === undefined ? {} : { ttl: asked.ttl };
  const point: JsonObject = { cachePoint: { type: "default", ...ttl } };
  const system = listAt(body, "system");
  const config = objectAt(body, "toolConfig");
  const onlyTools = asked.instructions === true && system.length === 0 && !/nova/.test(model);
  const messages = listAt(body, "messages").map((message) => withTtl(message, point));
  const before = messages.findLastIndex(isReply) - 1;
  const ends = asked.items === true ? [messages.length - 1, before] : [];
  let marked: JsonObject = {
    ...body,
    ...(asked.instructions === true && system.length > 0 ? { system: [...system, point] } : {}),
    ...((asked.tools === true || onlyTools) && config !== undefined
      ? { toolConfig: { ...config, tools: [...listAt(config, "tools"), point] } }
      : {}),
    messages,
  };
  for (const end of ends) {
    const more = { ...marked, messages: pointedMessage(listAt(marked, "messages"), end, point) };
    if (end !== before || countIn(more) <= most) marked = more;
  }
  const count = countIn(marked);
  if (count <= most) return marked;
  const instead = `the request has ${count} cache points and may have ${most}: leave some out`;
  throw refuse(bedrockSettings, "cache", cache ?? "of the settings", instead);
}

function isReply(message: Json): boolean {
  return isJsonObject(message) && message["role"] === "assistant";
}

function pointedMessage(messages: readonly Json[], at: number, point: JsonObject): readonly Json[] {
  const message = messages[at];
  if (!isJsonObject(message)) return messages;
  const content = listAt(message, "content");
  if (content.at(-1) === point) return messages;
  return messages.with(at, { ...message, content: [...content, point] });
}

/** Gives the points of parts the time to live of the settings: the vendor takes no short one before a long one. */
function withTtl(message: Json, point: JsonObject): Json {
  if (!isJsonObject(message)) return message;
  const content = listAt(message, "content").map((block) => (block === cachePoint ? point : block));
  return { ...message, content };
}

function countIn(body: JsonObject): number {
  const blocks = listAt(body, "messages").flatMap((message: Json) =>
    isJsonObject(message) ? listAt(message, "content") : [],
  );
  const places = [
    ...listAt(body, "system"),
    ...listAt(objectAt(body, "toolConfig"), "tools"),
    ...blocks,
  ];
  return places.filter((place) => isJsonObject(place) && place["cachePoint"] !== undefined).length;
}
