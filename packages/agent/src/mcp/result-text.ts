import { isJsonObject } from "@millrace/core/wire";
import type { JsonObject } from "@millrace/core";

import { oneLine } from "./visible-text.ts";

/**
 * What a server answered, as text: text as it is, and all else described by sort, type and size.
 * Bytes are not put into text, because a model can't read them and would be charged for them.
 */
export function resultText(content: readonly unknown[]): string {
  return content.map(blockText).join("\n");
}

function blockText(block: unknown): string {
  if (!isJsonObject(block)) return "[a block that can't be read]";
  switch (block["type"]) {
    case "text":
      return textOf(block, "text").toWellFormed();
    case "image":
    case "audio":
      return `[${block["type"]}: ${described(block)}, ${bytesIn(block["data"])} bytes, not shown]`;
    case "resource_link":
      return `[link to a resource: ${named(block)}]`;
    case "resource":
      return resourceText(block["resource"]);
    default:
      return `[a block of the sort ${quoted(block, "type")}, not shown]`;
  }
}

function resourceText(resource: unknown): string {
  if (!isJsonObject(resource)) return "[a resource that can't be read]";
  const text = resource["text"];
  if (typeof text === "string") return `[resource: ${named(resource)}]\n${text.toWellFormed()}`;
  return `[resource: ${named(resource)}, ${bytesIn(resource["blob"])} bytes, not shown]`;
}

function named(block: JsonObject): string {
  const name = textOf(block, "name");
  const uri = oneLine(textOf(block, "uri"), 1_024);
  const size = block["size"];
  return [
    ...(name === "" ? [] : [quoted(block, "name")]),
    uri === "" ? "no address" : uri,
    described(block),
    ...(typeof size === "number" ? [`${size} bytes`] : []),
  ].join(", ");
}

function described(block: JsonObject): string {
  const type = oneLine(textOf(block, "mimeType"), 128);
  return type === "" ? "no type" : type;
}

function quoted(block: JsonObject, key: string): string {
  return JSON.stringify(oneLine(textOf(block, key), 256));
}

function textOf(block: JsonObject, key: string): string {
  const value = block[key];
  return typeof value === "string" ? value : "";
}

/** How many bytes base64 text stands for, by its length: it is not decoded. */
function bytesIn(data: unknown): number {
  if (typeof data !== "string") return 0;
  const padding = data.endsWith("==") ? 2 : Number(data.endsWith("="));
  return Math.floor((data.length * 3) / 4) - padding;
}
