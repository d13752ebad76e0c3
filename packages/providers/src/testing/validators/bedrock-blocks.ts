import { isJsonObject } from "@millrace/core/json";
import type { Json } from "@millrace/core";
import {
  checkBase64,
  checkList,
  checkOneOf,
  checkShape,
  checkText,
  functionName,
  shape,
  words,
} from "./check.ts";
import type { Violations } from "./check.ts";

interface Spot {
  readonly path: string;
  /** `system`, `user`, `assistant`, or `result` for the content of a tool's result. */
  readonly place: string;
}

/** The members of the union of blocks, by where they may stand. */
const members: Readonly<Record<string, readonly string[]>> = {
  system: words("text guardContent cachePoint"),
  user: words("text image document video audio toolResult guardContent cachePoint searchResult"),
  assistant: words("text toolUse toolResult reasoningContent citationsContent cachePoint"),
  result: words("text json image document video searchResult"),
};

const formats: Readonly<Record<string, readonly string[]>> = {
  image: words("gif jpeg png webp"),
  video: words("flv mkv mov mp4 mpeg mpg three_gp webm wmv"),
  audio: words("aac flac m4a mka mkv mp3 mp4 mpeg mpga ogg opus pcm wav webm x-aac"),
  document: words("csv doc docx html md pdf txt xls xlsx"),
};

const toolUseId = { pattern: /^[a-zA-Z0-9_-]{1,64}$/ } as const;

/** Checks one block: exactly one member of the union, of the shape that it has there. */
export function checkConverseBlock(found: Violations, block: Json, { path, place }: Spot): void {
  if (!isJsonObject(block)) return found.add(path, "not an object");
  const [name = "", ...more] = Object.keys(block);
  if (more.length > 0) found.add(path, "not one of the union");
  if (!checkOneOf(found, name, path, members[place] ?? [])) return;
  const value = block[name] ?? null;
  const at = `${path}.${name}`;
  switch (name) {
    case "text":
      if (checkText(found, value, at) && value.trim() === "") found.add(at, "blank");
      return;
    case "image":
    case "video":
    case "audio":
    case "document":
      return checkMedia(found, value, { path: at, place: name });
    case "toolUse":
      return checkUse(found, value, at);
    case "toolResult":
      return checkResult(found, value, at);
    case "reasoningContent":
      return checkReasoning(found, value, at);
    case "citationsContent":
      return checkCitations(found, value, at);
    case "json":
      if (!isJsonObject(value)) found.add(at, "not an object");
      return;
    case "cachePoint":
      checkShape(found, value, at, shape("type", "ttl"));
      return;
    default:
      if (!isJsonObject(value)) found.add(at, "not an object");
  }
}

function checkMedia(found: Violations, value: Json, { path, place }: Spot): void {
  const isDocument = place === "document";
  const allowed = isDocument
    ? shape("name source", "format context citations")
    : shape("format source");
  if (!checkShape(found, value, path, allowed)) return;
  checkOneOf(found, value["format"], `${path}.format`, formats[place] ?? []);
  if (isDocument) {
    // Letters, digits, single white space, hyphens, round and square brackets.
    const rule = { max: 200, pattern: /^(?!.*\s\s)[a-zA-Z0-9\s()[\]-]+$/ };
    checkText(found, value["name"], `${path}.name`, rule);
  }
  const { source } = value;
  const members = isDocument ? "bytes s3Location text content" : "bytes s3Location";
  if (!checkShape(found, source, `${path}.source`, shape("", members))) return;
  if (Object.keys(source).length !== 1) found.add(`${path}.source`, "not one of the union");
  if (source["bytes"] !== undefined) checkBase64(found, source["bytes"], `${path}.bytes`);
  const location = source["s3Location"];
  if (location === undefined) return;
  if (!checkShape(found, location, `${path}.s3Location`, shape("uri", "bucketOwner"))) return;
  checkText(found, location["uri"], `${path}.uri`, { max: 1024, pattern: /^s3:\/\/[^/]+\/.+/ });
}

function checkUse(found: Violations, value: Json, path: string): void {
  if (!checkShape(found, value, path, shape("toolUseId name input", "type"))) return;
  checkText(found, value["toolUseId"], `${path}.toolUseId`, toolUseId);
  checkText(found, value["name"], `${path}.name`, functionName);
  if (!isJsonObject(value["input"])) found.add(`${path}.input`, "not an object");
}

function checkResult(found: Violations, value: Json, path: string): void {
  if (!checkShape(found, value, path, shape("toolUseId content", "status type"))) return;
  checkText(found, value["toolUseId"], `${path}.toolUseId`, toolUseId);
  if (value["status"] !== undefined) {
    checkOneOf(found, value["status"], `${path}.status`, ["success", "error"]);
  }
  if (!checkList(found, value["content"], `${path}.content`)) return;
  for (const [at, block] of value["content"].entries()) {
    checkConverseBlock(found, block, { path: `${path}.content[${at}]`, place: "result" });
    const isText = isJsonObject(block) && block["text"] !== undefined;
    // Claude's rule for results with errors.
    if (value["status"] === "error" && !isText) found.add(path, "an error with more than text");
  }
}

function checkReasoning(found: Violations, value: Json, path: string): void {
  if (!checkShape(found, value, path, shape("", "reasoningText redactedContent"))) return;
  if (Object.keys(value).length !== 1) found.add(path, "not one of the union");
  if (value["redactedContent"] !== undefined) checkBase64(found, value["redactedContent"], path);
  const text = value["reasoningText"];
  if (text === undefined || !checkShape(found, text, path, shape("text signature"))) return;
  checkText(found, text["text"], `${path}.text`, { empty: "allowed" });
  checkText(found, text["signature"], `${path}.signature`);
}

function checkCitations(found: Violations, value: Json, path: string): void {
  if (!checkShape(found, value, path, shape("content citations"))) return;
  if (checkList(found, value["content"], `${path}.content`)) {
    for (const [at, block] of value["content"].entries()) {
      checkConverseBlock(found, block, { path: `${path}.content[${at}]`, place: "result" });
    }
  }
  if (!checkList(found, value["citations"], `${path}.citations`)) return;
  for (const citation of value["citations"]) {
    checkShape(
      found,
      citation,
      `${path}.citations`,
      shape("", "title source sourceContent location"),
    );
  }
}
