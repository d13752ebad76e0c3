import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import {
  checkAddress,
  checkArguments,
  checkBase64,
  checkBody,
  checkList,
  checkOneOf,
  checkShape,
  checkText,
  checkToolSchema,
  checkUnique,
  functionName,
  shape,
  Violations,
  word,
} from "./check.ts";
import { checkNamedSchema } from "./check-schema.ts";

export interface ChatRules {
  /** Accepts fields that imitators add: reasoning, and signatures of calls. */
  readonly extensions?: boolean;
}

/** The violations that the vendor of chat completions would refuse in a request's body. */
export function validateOpenaiChat(body: unknown, rules: ChatRules = {}): string[] {
  const found = new Violations();
  if (!checkBody(found, body)) return found.list;
  checkShape(found, body, "$", bodyShape);
  checkText(found, body["model"], "$.model");
  if (body["stream_options"] !== undefined) {
    if (body["stream"] !== true) found.add("$.stream_options", "only taken when streaming");
    checkShape(found, body["stream_options"], "$.stream_options", streamShape);
  }
  checkTools(found, body);
  if (body["response_format"] !== undefined) checkFormat(found, body);
  if (checkList(found, body["messages"], "$.messages")) {
    checkMessages(found, body["messages"], rules.extensions === true);
  }
  return found.list;
}

const bodyShape = shape(
  "model messages",
  `
    audio frequency_penalty logit_bias logprobs max_completion_tokens max_tokens
    metadata modalities n parallel_tool_calls prediction presence_penalty
    prompt_cache_key prompt_cache_retention reasoning_effort response_format
    safety_identifier seed service_tier stop store stream stream_options temperature
    tool_choice tools top_logprobs top_p user verbosity web_search_options`,
);
const streamShape = shape("", "include_usage include_obfuscation");

function checkFormat(found: Violations, body: JsonObject): void {
  const path = "$.response_format";
  const format = body["response_format"];
  const kind = isJsonObject(format) ? word(format["type"]) : "";
  if (!checkOneOf(found, kind, `${path}.type`, ["text", "json_object", "json_schema"])) return;
  const isSchema = kind === "json_schema";
  if (!checkShape(found, format, path, isSchema ? schemaFormatShape : formatShape)) return;
  if (kind === "json_object" && !/json/i.test(JSON.stringify(body["messages"] ?? ""))) {
    found.add(path, "the word JSON is in no message");
  }
  if (!isSchema) return;
  if (/^(?:gpt-3|gpt-4(?:-|$))/.test(word(body["model"]))) found.add(path, "not for this model");
  const inner = `${path}.json_schema`;
  if (!checkShape(found, format["json_schema"], inner, namedSchemaShape)) return;
  checkText(found, format["json_schema"]["name"], `${inner}.name`, functionName);
  checkNamedSchema(found, format["json_schema"], inner);
}

const formatShape = shape("type");
const schemaFormatShape = shape("type json_schema");
const namedSchemaShape = shape("name schema", "description strict");

function checkTools(found: Violations, body: JsonObject): void {
  const { tools } = body as { tools?: Json };
  if (tools === undefined) {
    for (const key of ["tool_choice", "parallel_tool_calls"]) {
      if (body[key] !== undefined) found.add(`$.${key}`, "only taken with tools");
    }
    return;
  }
  if (!checkList(found, tools, "$.tools")) return;
  if (tools.length > 128) found.add("$.tools", "over 128");
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const path = `$.tools[${at}]`;
    const kind = isJsonObject(tool) && tool["type"] === "custom" ? "custom" : "function";
    if (!checkShape(found, tool, path, kind === "custom" ? customToolShape : toolShape)) continue;
    checkOneOf(found, tool["type"], `${path}.type`, ["function", "custom"]);
    const described = tool[kind];
    const inner = kind === "custom" ? customShape : functionShape;
    if (!checkShape(found, described, `${path}.${kind}`, inner)) continue;
    const name = described["name"];
    if (checkText(found, name, `${path}.${kind}.name`, functionName)) {
      checkUnique(found, names, name, `${path}.${kind}.name`);
    }
    if (described["description"] !== undefined) {
      checkText(found, described["description"], `${path}.${kind}.description`, emptyText);
    }
    if (kind === "function" && described["parameters"] !== undefined) {
      const at = `${path}.function.parameters`;
      checkToolSchema(found, described["parameters"], at, { properties: "required" });
    }
  }
}

const emptyText = { empty: "allowed" } as const;
const toolShape = shape("type function");
const customToolShape = shape("type custom");
const functionShape = shape("name", "description parameters strict");
const customShape = shape("name", "description format");

/** The order of roles, and that each call is answered once, directly after it. */
function checkMessages(found: Violations, messages: readonly Json[], extensions: boolean): void {
  const ids = new Set<string>();
  let unanswered = new Set<string>();
  let spoken = false;
  for (const [at, message] of messages.entries()) {
    const path = `$.messages[${at}]`;
    if (!isJsonObject(message)) {
      found.add(path, "not an object");
      continue;
    }
    const role = message["role"];
    if (role !== "tool" && unanswered.size > 0) {
      found.add(path, `calls without an answer: ${[...unanswered].join(", ")}`);
      unanswered = new Set();
    }
    if (role === "system" || role === "developer") {
      if (spoken) found.add(path, "instructions behind the conversation's begin");
    } else {
      if (!spoken && role !== "user") found.add(path, "the first one to speak is not the user");
      spoken = true;
    }
    if (role === "tool") checkToolMessage(found, message, path, unanswered);
    else if (role === "assistant") {
      unanswered = checkAssistant(found, message, path, { ids, extensions });
    } else checkSpeaker(found, message, path);
  }
  if (unanswered.size > 0) found.add("$.messages", "ends with calls that have no answer");
  const last = messages.at(-1);
  if (isJsonObject(last) && last["role"] === "assistant") {
    found.add("$.messages", "ends with the assistant");
  }
  if (!spoken) found.add("$.messages", "nobody speaks");
}

function checkSpeaker(found: Violations, message: JsonObject, path: string): void {
  checkShape(found, message, path, speakerShape);
  if (!checkOneOf(found, message["role"], `${path}.role`, ["user", "system", "developer"])) return;
  const content = message["content"];
  if (typeof content === "string") checkText(found, content, `${path}.content`);
  else if (checkList(found, content, `${path}.content`)) {
    const check = message["role"] === "user" ? checkUserPart : checkTextPart;
    for (const [at, part] of content.entries()) check(found, part, `${path}.content[${at}]`);
  }
}

const speakerShape = shape("role content", "name");

function checkUserPart(found: Violations, part: Json, path: string): void {
  const kind = isJsonObject(part) ? part["type"] : undefined;
  if (kind === "image_url" && checkShape(found, part, path, imageShape)) {
    if (!checkShape(found, part["image_url"], `${path}.image_url`, urlShape)) return;
    checkAddress(found, part["image_url"]["url"], `${path}.image_url.url`, imageTypes);
  } else if (kind === "input_audio" && checkShape(found, part, path, audioShape)) {
    const audio = part["input_audio"];
    if (!checkShape(found, audio, `${path}.input_audio`, soundShape)) return;
    checkBase64(found, audio["data"], `${path}.input_audio.data`);
    checkOneOf(found, audio["format"], `${path}.input_audio.format`, ["wav", "mp3"]);
  } else if (kind === "file" && checkShape(found, part, path, fileShape)) {
    const file = part["file"];
    if (!checkShape(found, file, `${path}.file`, innerFileShape)) return;
    if (file["file_id"] !== undefined) return;
    if (!word(file["file_data"]).startsWith("data:")) found.add(path, "file data is no data URL");
    checkAddress(found, file["file_data"], `${path}.file.file_data`, ["application/pdf"]);
    checkText(found, file["filename"], `${path}.file.filename`);
  } else checkTextPart(found, part, path);
}

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const imageShape = shape("type image_url");
const urlShape = shape("url", "detail");
const audioShape = shape("type input_audio");
const soundShape = shape("data format");
const fileShape = shape("type file");
const innerFileShape = shape("", "file_data filename file_id");

function checkTextPart(found: Violations, part: Json, path: string): void {
  if (!checkShape(found, part, path, textShape)) return;
  checkOneOf(found, part["type"], `${path}.type`, ["text"]);
  checkText(found, part["text"], `${path}.text`);
}

const textShape = shape("type text");
const refusalShape = shape("type refusal");

function checkToolMessage(
  found: Violations,
  message: JsonObject,
  path: string,
  unanswered: Set<string>,
): void {
  checkShape(found, message, path, toolMessageShape);
  const content = message["content"];
  if (typeof content === "string") checkText(found, content, `${path}.content`);
  else if (checkList(found, content, `${path}.content`)) {
    for (const [at, part] of content.entries()) {
      checkTextPart(found, part, `${path}.content[${at}]`);
    }
  }
  const id = message["tool_call_id"];
  if (!checkText(found, id, `${path}.tool_call_id`, { max: 40 })) return;
  if (!unanswered.delete(id)) found.add(path, `answers no open call of the turn before: ${id}`);
}

const toolMessageShape = shape("role content tool_call_id");

/** Returns the ids of the calls that wait for an answer. */
function checkAssistant(
  found: Violations,
  message: JsonObject,
  path: string,
  { ids, extensions }: { readonly ids: Set<string>; readonly extensions: boolean },
): Set<string> {
  checkShape(found, message, path, extensions ? extendedShape : assistantShape);
  const { content, tool_calls: calls } = message as { content?: Json; tool_calls?: Json };
  if (Array.isArray(content)) {
    checkList(found, content, `${path}.content`);
    for (const [at, part] of (content as readonly Json[]).entries()) {
      if (isJsonObject(part) && part["type"] === "refusal") {
        checkShape(found, part, `${path}.content[${at}]`, refusalShape);
        checkText(found, part["refusal"], `${path}.content[${at}].refusal`);
      } else if (!extensions || !isThought(part)) {
        checkTextPart(found, part, `${path}.content[${at}]`);
      }
    }
  } else if (content !== undefined && content !== null && typeof content !== "string") {
    found.add(`${path}.content`, "neither text nor parts");
  }
  const silent = content === undefined || content === null || content === "";
  const speaks = !silent || calls !== undefined || typeof message["refusal"] === "string";
  if (!speaks && !isJsonObject(message["audio"])) found.add(path, "says and calls nothing");
  const open = new Set<string>();
  if (calls === undefined || !checkList(found, calls, `${path}.tool_calls`)) return open;
  for (const [at, call] of calls.entries()) {
    const id = checkCall(found, call, `${path}.tool_calls[${at}]`, extensions);
    if (id === undefined) continue;
    checkUnique(found, ids, id, `${path}.tool_calls[${at}].id`);
    open.add(id);
  }
  return open;
}

/** Some imitators have reasoning among the content parts. */
function isThought(part: Json): boolean {
  return isJsonObject(part) && part["type"] === "thinking" && Array.isArray(part["thinking"]);
}

const assistantShape = shape("role", "content refusal tool_calls audio name");
const extendedShape = shape(
  "role",
  `
    content refusal tool_calls audio name reasoning_content reasoning reasoning_text
    reasoning_details`,
);

function checkCall(
  found: Violations,
  call: Json,
  path: string,
  extensions: boolean,
): string | undefined {
  const kind = isJsonObject(call) && call["type"] === "custom" ? "custom" : "function";
  const allowed = extensions ? extendedCallShapes[kind] : callShapes[kind];
  if (!checkShape(found, call, path, allowed)) return undefined;
  checkOneOf(found, call["type"], `${path}.type`, ["function", "custom"]);
  const inner = call[kind];
  const innerPath = `${path}.${kind}`;
  if (kind === "custom") {
    if (checkShape(found, inner, innerPath, customCallShape)) {
      checkText(found, inner["name"], `${innerPath}.name`, functionName);
      checkText(found, inner["input"], `${innerPath}.input`, emptyText);
    }
  } else if (checkShape(found, inner, innerPath, functionCallShape)) {
    checkText(found, inner["name"], `${innerPath}.name`, functionName);
    checkArguments(found, inner["arguments"], `${innerPath}.arguments`);
  }
  const id = call["id"];
  return checkText(found, id, `${path}.id`, { max: 40 }) ? id : undefined;
}

const callShapes = { function: shape("id type function"), custom: shape("id type custom") };
const extendedCallShapes = {
  function: shape("id type function", "extra_content"),
  custom: shape("id type custom", "extra_content"),
};
const functionCallShape = shape("name arguments");
const customCallShape = shape("name input");
