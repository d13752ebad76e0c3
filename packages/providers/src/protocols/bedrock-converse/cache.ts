import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { CacheSettings, ModelSettings } from "@millrace/core/ports";
import { listAt, objectAt } from "../read.ts";
import { refuse } from "../settings.ts";
import { cachePoint } from "./content.ts";
import { bedrockSettings } from "./settings.ts";

/** The vendor refuses more. */
const most = 4;

/** Puts a cache point behind what is to be kept: the instructions, the tools, the last message. */
export function withCachePoints(
  body: JsonObject,
  cache: ModelSettings["cache"],
  model: string,
): JsonObject {
  const everything: CacheSettings = { instructions: true, tools: !/nova/.test(model), items: true };
  const asked = typeof cache === "object" ? cache : cache === true ? everything : {};
  const ttl = asked.ttl === undefined ? {} : { ttl: asked.ttl };
  const point: JsonObject = { cachePoint: { type: "default", ...ttl } };
  const system = listAt(body, "system");
  const config = objectAt(body, "toolConfig");
  const messages = listAt(body, "messages").map((message) => withTtl(message, point));
  const last = messages.at(-1);
  const marked: JsonObject = {
    ...body,
    ...(asked.instructions === true && system.length > 0 ? { system: [...system, point] } : {}),
    ...(asked.tools === true && config !== undefined
      ? { toolConfig: { ...config, tools: [...listAt(config, "tools"), point] } }
      : {}),
    messages,
    ...(asked.items === true && isJsonObject(last) && listAt(last, "content").at(-1) !== point
      ? {
          messages: messages.with(messages.length - 1, {
            ...last,
            content: [...listAt(last, "content"), point],
          }),
        }
      : {}),
  };
  const count = countIn(marked);
  if (count <= most) return marked;
  const instead = `the request has ${count} cache points and may have ${most}: leave some out`;
  throw refuse(bedrockSettings, "cache", cache ?? "of the settings", instead);
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
