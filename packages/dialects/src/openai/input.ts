import type { Json, JsonObject } from "@millrace/core";
import { isJsonObject, parseJson } from "@millrace/core/wire";
import type { PageAnswer } from "../shared/page-answer.ts";
import { refused } from "./refused.ts";

/** What a request says: to the agent, and in answer to what a run waits for. */
export interface SentInput {
  /** Parts of a prompt, as the other dialect sends them. Empty: there is none. */
  readonly parts: readonly SentPart[];
  readonly pageAnswers: readonly PageAnswer[];
}

/** A part, and where in the body it stood. */
export interface SentPart {
  readonly part: JsonObject;
  readonly pointer: string;
}

const pastIsStored =
  "what was said before is stored: send only what is new, with previous_response_id or conversation";

/** The `input` of a request for a response. */
export function readInput(input: Json | undefined): SentInput {
  if (typeof input === "string") {
    const part = { type: "text", text: input };
    return { parts: [{ part, pointer: "/input" }], pageAnswers: [] };
  }
  if (!Array.isArray(input) || input.length === 0)
    throw refused("input is a text or a list of items", "/input");
  const parts: SentPart[] = [];
  const pageAnswers: PageAnswer[] = [];
  for (const [at, item] of (input as readonly Json[]).entries()) {
    const pointer = `/input/${at}`;
    if (!isJsonObject(item)) throw refused("an item is an object", pointer);
    switch (item["type"] ?? "message") {
      case "message":
        parts.push(...messageParts(item, pointer));
        break;
      case "function_call_output":
        pageAnswers.push(outputOf(item, pointer));
        break;
      case "mcp_approval_response":
        pageAnswers.push(decisionOf(item, pointer));
        break;
      default:
        throw refused(`the type ${quoted(item["type"])}: ${pastIsStored}`, pointer);
    }
  }
  return { parts, pageAnswers };
}

/** The parts of a person's message, in either format. */
export function messageParts({ role, content }: JsonObject, pointer: string): readonly SentPart[] {
  if (role === "system" || role === "developer")
    throw refused("the agent has its own instructions: send no message of this role", pointer);
  if (role !== "user") throw refused(`the role ${quoted(role)}: ${pastIsStored}`, pointer);
  if (typeof content === "string")
    return [{ part: { type: "text", text: content }, pointer: `${pointer}/content` }];
  if (!Array.isArray(content)) throw refused("content is a text or a list of parts", pointer);
  return (content as readonly Json[]).map((each, at) => {
    const where = `${pointer}/content/${at}`;
    return { part: partOf(each, where), pointer: where };
  });
}

/** A part of a message as a text or a file with an address. */
function partOf(part: Json, pointer: string): JsonObject {
  if (!isJsonObject(part)) throw refused("a part is an object", pointer);
  const { type, text } = part;
  switch (type) {
    case "input_text":
    case "text":
      if (typeof text !== "string") throw refused("a text has text", pointer);
      return { type: "text", text };
    case "input_image":
    case "image_url": {
      const { image_url: given } = part;
      const url = isJsonObject(given) ? given["url"] : given;
      if (typeof url !== "string") throw refused("send an image by its image_url", pointer);
      return { type: "file", mediaType: mediaTypeOf(url) ?? "image/*", url };
    }
    case "input_file":
    case "file": {
      const file = isJsonObject(part["file"]) ? part["file"] : part;
      const { file_data: data, file_url: address, filename } = file;
      const url = typeof data === "string" ? dataUrl(data) : address;
      if (typeof url !== "string") throw refused("send a file by file_data or file_url", pointer);
      const name = typeof filename === "string" ? { filename } : {};
      return {
        type: "file",
        mediaType: mediaTypeOf(url) ?? "application/octet-stream",
        url,
        ...name,
      };
    }
    default:
      throw refused(`a message has texts, images and files, not ${quoted(type)}`, pointer);
  }
}

/** Bytes as an address. Some clients send them without their type. */
function dataUrl(data: string): string {
  return data.startsWith("data:") ? data : `data:application/octet-stream;base64,${data}`;
}

function mediaTypeOf(url: string): string | undefined {
  return /^data:([^;,]+)[;,]/.exec(url)?.[1];
}

function outputOf({ call_id: toolCallId, output }: JsonObject, pointer: string): PageAnswer {
  if (typeof toolCallId !== "string") throw refused("name the call by call_id", pointer);
  const text = Array.isArray(output) ? textOf(output as readonly Json[], pointer) : output;
  if (typeof text !== "string") throw refused("output is a text or a list of texts", pointer);
  return { kind: "output", toolCallId, answer: { output: valueOf(text) } };
}

function textOf(parts: readonly Json[], pointer: string): string {
  return parts
    .map((part) => {
      const text = isJsonObject(part) ? part["text"] : undefined;
      if (typeof text === "string") return text;
      throw refused("a tool of yours answers with texts", `${pointer}/output`);
    })
    .join("");
}

/**
 * What a tool of the client came to. The format has only texts for it: those that are an object or a list as
 * JSON are taken as that.
 */
export function valueOf(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  const parsed = parseJson(text);
  return parsed.ok ? parsed.value : text;
}

function decisionOf(item: JsonObject, pointer: string): PageAnswer {
  const { approval_request_id: approvalId, approve, reason } = item;
  if (typeof approvalId !== "string" || typeof approve !== "boolean")
    throw refused("an approval response has an approval_request_id, and approve", pointer);
  const why = typeof reason === "string" ? reason : undefined;
  return { kind: "decision", approvalId, approved: approve, reason: why };
}

function quoted(value: Json | undefined): string {
  return (JSON.stringify(value) ?? "none").slice(0, 64);
}
