import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import {
  checkAddress,
  checkArguments,
  checkList,
  checkOneOf,
  checkShape,
  checkText,
  functionName,
  shape,
  word,
} from "./check.ts";
import type { Shape, TextRule, Violations } from "./check.ts";
import { checkNative } from "./openai-responses-native.ts";

export interface ItemRules {
  /** True if the vendor stores items, so that an id alone can stand for one. */
  readonly stored: boolean;
}

export function checkItem(found: Violations, item: Json, path: string, rules: ItemRules): void {
  if (!isJsonObject(item)) {
    found.add(path, "not an object");
    return;
  }
  const kind = item["type"] ?? "message";
  if (kind === "message") checkMessage(found, item, path);
  else if (kind === "reasoning") checkReasoningItem(found, item, path, rules);
  else if (kind === "function_call" || kind === "custom_tool_call") checkCall(found, item, path);
  else if (isOutput(item)) checkOutput(found, item, path);
  else checkHosted(found, item, path, rules);
}

export function isCall(item: JsonObject): boolean {
  return item["type"] === "function_call" || item["type"] === "custom_tool_call";
}

export function isOutput(item: JsonObject): boolean {
  return item["type"] === "function_call_output" || item["type"] === "custom_tool_call_output";
}

export function isUserMessage(item: JsonObject): boolean {
  const role = item["role"];
  return (item["type"] ?? "message") === "message" && role !== "assistant";
}

const statuses = ["in_progress", "completed", "incomplete"];

/** Ids are short, use few characters, and begin with the prefix of their kind. */
function checkId(found: Violations, item: JsonObject, path: string, prefix: string): void {
  const id = item["id"];
  if (id === undefined) return;
  const rule: TextRule = { max: 64, pattern: /^[a-zA-Z0-9_-]+$/ };
  if (!checkText(found, id, `${path}.id`, rule)) return;
  if (!id.startsWith(prefix)) found.add(`${path}.id`, `does not begin with ${prefix}`);
}

function checkMessage(found: Violations, item: JsonObject, path: string): void {
  const role = item["role"];
  checkOneOf(found, role, `${path}.role`, ["user", "assistant", "system", "developer"]);
  const ours = role === "assistant";
  checkShape(found, item, path, ours ? assistantShape : speakerShape);
  if (ours) checkId(found, item, path, "msg");
  if (ours && item["id"] !== undefined && item["status"] === undefined) {
    found.add(`${path}.status`, "missing beside an id");
  }
  if (item["status"] !== undefined) {
    checkOneOf(found, item["status"], `${path}.status`, statuses);
  }
  if (item["phase"] !== undefined && item["phase"] !== null) {
    checkOneOf(found, item["phase"], `${path}.phase`, ["commentary", "final_answer"]);
  }
  const content = item["content"];
  if (typeof content === "string") checkText(found, content, `${path}.content`);
  else if (checkList(found, content, `${path}.content`)) {
    for (const [at, part] of content.entries()) {
      if (ours) checkModelContent(found, part, `${path}.content[${at}]`);
      else checkInput(found, part, `${path}.content[${at}]`);
    }
  }
}

const speakerShape = shape("role content", "type status");
const assistantShape = shape("role content", "type status id phase");

/** Content of the model. */
function checkModelContent(found: Violations, part: Json, path: string): void {
  if (isJsonObject(part) && part["type"] === "refusal") {
    checkShape(found, part, path, refusalShape);
    checkText(found, part["refusal"], `${path}.refusal`);
    return;
  }
  if (!checkShape(found, part, path, saidShape)) return;
  checkOneOf(found, part["type"], `${path}.type`, ["output_text", "refusal"]);
  checkText(found, part["text"], `${path}.text`);
  if (!Array.isArray(part["annotations"])) found.add(`${path}.annotations`, "not an array");
  else {
    for (const [at, note] of (part["annotations"] as readonly Json[]).entries()) {
      const allowed = isJsonObject(note) ? annotationShapes[word(note["type"])] : undefined;
      if (allowed === undefined) found.add(`${path}.annotations[${at}].type`, "unknown");
      else checkShape(found, note, `${path}.annotations[${at}]`, allowed);
    }
  }
}

const refusalShape = shape("type refusal");
const saidShape = shape("type text annotations", "logprobs");
const annotationShapes: Readonly<Record<string, Shape>> = {
  file_citation: shape("type file_id index", "filename"),
  url_citation: shape("type start_index end_index title url"),
  container_file_citation: shape("type container_id file_id start_index end_index", "filename"),
  file_path: shape("type file_id index"),
};

/** Content of a user, or of a tool's output. */
function checkInput(found: Violations, part: Json, path: string): void {
  const kind = isJsonObject(part) ? part["type"] : undefined;
  if (kind === "input_image" && checkShape(found, part, path, imageShape)) {
    if (part["file_id"] === undefined) {
      checkAddress(found, part["image_url"], `${path}.image_url`, imageTypes);
    }
    if (part["detail"] !== undefined) {
      checkOneOf(found, part["detail"], `${path}.detail`, ["low", "high", "auto", "original"]);
    }
  } else if (kind === "input_file" && checkShape(found, part, path, fileShape)) {
    const { file_data: data, file_url: url, file_id: id } = part as Record<string, Json>;
    if ([data, url, id].filter((source) => source !== undefined).length !== 1) {
      found.add(path, "not exactly one of file_data, file_url, file_id");
    }
    if (data !== undefined) {
      if (!word(data).startsWith("data:")) found.add(`${path}.file_data`, "no data URL");
      checkAddress(found, data, `${path}.file_data`, fileTypes);
      checkText(found, part["filename"], `${path}.filename`);
    }
    if (url !== undefined) checkAddress(found, url, `${path}.file_url`, []);
  } else if (checkShape(found, part, path, textShape)) {
    checkOneOf(found, part["type"], `${path}.type`, ["input_text", "input_image", "input_file"]);
    checkText(found, part["text"], `${path}.text`);
  }
}

const textShape = shape("type text");
const imageShape = shape("type", "image_url file_id detail");
const fileShape = shape("type", "file_data file_url file_id filename detail");
const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const fileTypes = [
  "application/pdf",
  "application/msword",
  "application/vnd.ms-excel",
  "application/vnd.ms-powerpoint",
  "application/vnd.oasis.opendocument.text",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  "text/plain",
  "text/markdown",
  "text/html",
  "text/csv",
  "text/xml",
  "application/json",
];

function checkReasoningItem(
  found: Violations,
  item: JsonObject,
  path: string,
  { stored }: ItemRules,
): void {
  checkShape(found, item, path, reasoningShape);
  checkId(found, item, path, "rs_");
  const sealed = item["encrypted_content"];
  if (sealed !== undefined && sealed !== null) {
    checkText(found, sealed, `${path}.encrypted_content`);
  } else if (!stored && !hasTexts(item["content"])) {
    found.add(path, "not found: reasoning is not stored and not enclosed");
  }
  for (const [key, kind] of reasoningTexts) {
    const texts = item[key];
    if (texts === undefined && key === "content") continue;
    if (!Array.isArray(texts)) {
      found.add(`${path}.${key}`, "not an array");
      continue;
    }
    for (const [at, text] of (texts as readonly Json[]).entries()) {
      if (!checkShape(found, text, `${path}.${key}[${at}]`, textShape)) continue;
      checkOneOf(found, text["type"], `${path}.${key}[${at}].type`, [kind]);
      checkText(found, text["text"], `${path}.${key}[${at}].text`, { empty: "allowed" });
    }
  }
}

/** Open models send their reasoning in plain text. */
function hasTexts(content: Json | undefined): boolean {
  return Array.isArray(content) && content.length > 0;
}

const reasoningTexts = [
  ["summary", "summary_text"],
  ["content", "reasoning_text"],
] as const;
const reasoningShape = shape("type summary", "id content encrypted_content status");

const callId: TextRule = { max: 64 };

function checkCall(found: Violations, item: JsonObject, path: string): void {
  const custom = item["type"] === "custom_tool_call";
  checkShape(found, item, path, custom ? customShape : callShape);
  checkId(found, item, path, custom ? "ctc" : "fc");
  checkText(found, item["call_id"], `${path}.call_id`, callId);
  checkText(found, item["name"], `${path}.name`, functionName);
  if (custom) checkText(found, item["input"], `${path}.input`, { empty: "allowed" });
  else checkArguments(found, item["arguments"], `${path}.arguments`);
  if (item["status"] !== undefined) checkOneOf(found, item["status"], `${path}.status`, statuses);
}

const callShape = shape("type call_id name arguments", "id status namespace caller");
const customShape = shape("type call_id name input", "id namespace caller");

function checkOutput(found: Violations, item: JsonObject, path: string): void {
  checkShape(found, item, path, outputShape);
  checkText(found, item["call_id"], `${path}.call_id`, callId);
  const output = item["output"];
  if (typeof output === "string") checkText(found, output, `${path}.output`);
  else if (checkList(found, output, `${path}.output`)) {
    for (const [at, part] of output.entries()) checkInput(found, part, `${path}.output[${at}]`);
  }
}

const outputShape = shape("type call_id output", "status caller");

/** Items of tools that the vendor runs, and others that are only sent back unchanged. */
function checkHosted(found: Violations, item: JsonObject, path: string, rules: ItemRules): void {
  const kind = word(item["type"]);
  const known = hosted[kind];
  if (known === undefined) {
    found.add(`${path}.type`, `unknown item ${kind}`);
    return;
  }
  if (kind === "item_reference" && !rules.stored) found.add(path, "not found: nothing is stored");
  checkShape(found, item, path, known.shape);
  checkId(found, item, path, known.prefix);
  checkNative(found, item, path);
  const status = item["status"];
  if (status !== undefined && status !== null) {
    checkOneOf(found, status, `${path}.status`, ["completed", "failed", "incomplete"]);
  }
}

interface Hosted {
  readonly prefix: string;
  readonly shape: Shape;
}

const hosted: Readonly<Record<string, Hosted>> = {
  web_search_call: { prefix: "ws", shape: shape("type id status", "action") },
  file_search_call: {
    prefix: "fs",
    shape: shape("type id status queries", "results"),
  },
  code_interpreter_call: {
    prefix: "ci",
    shape: shape("type id status container_id code outputs"),
  },
  image_generation_call: { prefix: "ig", shape: shape("type id status result") },
  computer_call: {
    prefix: "cu",
    shape: shape("type id call_id status pending_safety_checks", "action actions"),
  },
  computer_call_output: {
    prefix: "",
    shape: shape("type call_id output", "id acknowledged_safety_checks status"),
  },
  local_shell_call_output: { prefix: "", shape: shape("type id output", "status") },
  mcp_call: {
    prefix: "mcp",
    shape: shape("type id arguments name server_label", "approval_request_id error output status"),
  },
  mcp_list_tools: {
    prefix: "mcp",
    shape: shape("type id server_label tools", "error"),
  },
  mcp_approval_request: {
    prefix: "mcp",
    shape: shape("type id arguments name server_label"),
  },
  mcp_approval_response: {
    prefix: "mcp",
    shape: shape("type approval_request_id approve", "id reason"),
  },
  local_shell_call: {
    prefix: "lsh",
    shape: shape("type id action call_id status"),
  },
  shell_call: {
    prefix: "sh",
    shape: shape("type action call_id", "id status environment caller"),
  },
  shell_call_output: {
    prefix: "sh",
    shape: shape("type call_id output", "id status max_output_length caller"),
  },
  apply_patch_call: {
    prefix: "ap",
    shape: shape("type call_id operation status", "id caller"),
  },
  apply_patch_call_output: {
    prefix: "ap",
    shape: shape("type call_id status", "id output caller"),
  },
  tool_search_call: {
    prefix: "ts",
    shape: shape("type arguments", "id call_id execution status"),
  },
  tool_search_output: {
    prefix: "ts",
    shape: shape("type tools", "id call_id execution status"),
  },
  program: { prefix: "", shape: shape("type id call_id code fingerprint") },
  program_output: { prefix: "", shape: shape("type id call_id result status") },
  additional_tools: { prefix: "", shape: shape("type role tools", "id") },
  compaction: { prefix: "cmp", shape: shape("type encrypted_content", "id") },
  item_reference: { prefix: "", shape: shape("type id") },
};
