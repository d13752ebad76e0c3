import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import {
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
import { checkItem, isCall, isOutput, isUserMessage } from "./openai-responses-items.ts";
import {
  answeredBy,
  awaitedBy,
  checkAcknowledged,
  nativeToolShapes,
} from "./openai-responses-native.ts";

/** The violations that the vendor of the Responses API would refuse in a request's body. */
export function validateOpenaiResponses(body: unknown): string[] {
  const found = new Violations();
  if (!checkBody(found, body)) return found.list;
  checkShape(found, body, "$", bodyShape);
  checkText(found, body["model"], "$.model");
  if (body["instructions"] !== undefined) checkText(found, body["instructions"], "$.instructions");
  if (body["include"] !== undefined) checkList(found, body["include"], "$.include");
  checkTools(found, body);
  if (body["text"] !== undefined) checkTextFormat(found, body);
  const input = body["input"];
  if (typeof input === "string") checkText(found, input, "$.input");
  else if (checkList(found, input, "$.input")) {
    for (const [at, item] of input.entries()) {
      checkItem(found, item, `$.input[${at}]`, { stored: body["store"] !== false });
    }
    checkIds(found, input);
    checkAnswers(found, input);
    checkReasoning(found, input);
    checkEnds(found, input);
  }
  return found.list;
}

const bodyShape = shape(
  "model input",
  `
    background context_management conversation include instructions max_output_tokens
    max_tool_calls metadata parallel_tool_calls previous_response_id prompt
    prompt_cache_key prompt_cache_retention reasoning safety_identifier service_tier
    store stream stream_options temperature text tool_choice tools top_logprobs top_p
    truncation user`,
);

function checkTextFormat(found: Violations, body: JsonObject): void {
  const path = "$.text.format";
  if (!checkShape(found, body["text"], "$.text", textShape)) return;
  const format = body["text"]["format"];
  if (format === undefined) return;
  const kind = isJsonObject(format) ? word(format["type"]) : "";
  if (!checkOneOf(found, kind, `${path}.type`, ["text", "json_object", "json_schema"])) return;
  const isSchema = kind === "json_schema";
  if (!checkShape(found, format, path, isSchema ? schemaFormatShape : formatShape)) return;
  if (!isSchema) return;
  if (/^(?:gpt-3|gpt-4(?:-|$))/.test(word(body["model"]))) found.add(path, "not for this model");
  checkText(found, format["name"], `${path}.name`, functionName);
  checkNamedSchema(found, format, path);
}

const textShape = shape("", "format verbosity");
const formatShape = shape("type");
const schemaFormatShape = shape("type name schema", "description strict");

function checkTools(found: Violations, body: JsonObject): void {
  const tools = body["tools"];
  if (tools === undefined) {
    if (body["tool_choice"] !== undefined) found.add("$.tool_choice", "only taken with tools");
    return;
  }
  if (!checkList(found, tools, "$.tools")) return;
  const names = new Set<string>();
  for (const [at, tool] of tools.entries()) {
    const path = `$.tools[${at}]`;
    if (!isJsonObject(tool) || tool["type"] !== "function") {
      if (isJsonObject(tool)) {
        checkText(found, tool["type"], `${path}.type`);
        const known = nativeToolShapes[word(tool["type"])];
        if (known !== undefined) checkShape(found, tool, path, known);
      } else found.add(path, "not an object");
      continue;
    }
    checkShape(found, tool, path, toolShape);
    if (checkText(found, tool["name"], `${path}.name`, functionName)) {
      checkUnique(found, names, tool["name"], `${path}.name`);
    }
    if (tool["strict"] !== null && typeof tool["strict"] !== "boolean") {
      found.add(`${path}.strict`, "neither true, false nor null");
    }
    if (tool["description"] !== undefined) {
      checkText(found, tool["description"], `${path}.description`, { empty: "allowed" });
    }
    if (tool["parameters"] !== null) {
      checkToolSchema(found, tool["parameters"], `${path}.parameters`, { properties: "required" });
    }
  }
}

const toolShape = shape("type name parameters strict", "description");

function checkIds(found: Violations, input: readonly Json[]): void {
  const ids = new Set<string>();
  const calls = new Set<string>();
  for (const [at, item] of input.entries()) {
    if (!isJsonObject(item)) continue;
    const { id, call_id: callId } = item as { id?: Json; call_id?: Json };
    if (typeof id === "string") checkUnique(found, ids, id, `$.input[${at}].id`);
    if (typeof callId === "string" && isCall(item)) {
      checkUnique(found, calls, callId, `$.input[${at}].call_id`);
    }
  }
}

/** Each call has one output of its kind, before any other message. */
function checkAnswers(found: Violations, input: readonly Json[]): void {
  const open = new Map<string, string>();
  const calls = new Map<string, JsonObject>();
  let answering = false;
  for (const [at, item] of input.entries()) {
    if (!isJsonObject(item)) continue;
    const kind = word(item["type"]);
    const callId = answeredBy(item) ?? word(item["call_id"]);
    if (isAnswer(item, open)) {
      answering = true;
      if (open.get(callId) !== kind) found.add(`$.input[${at}]`, `no open call ${callId}`);
      if (kind === "computer_call_output") {
        checkAcknowledged(found, calls.get(callId), item, `$.input[${at}]`);
      }
      open.delete(callId);
    } else if (open.size > 0 && (answering || isUserMessage(item))) {
      found.add(`$.input[${at}]`, `no output before it for ${[...open.keys()].join(", ")}`);
      open.clear();
    }
    if (open.size === 0) answering = false;
    const awaited = isCall(item) ? { key: callId, output: `${kind}_output` } : awaitedBy(item);
    if (awaited !== undefined) {
      open.set(awaited.key, awaited.output);
      calls.set(awaited.key, item);
    }
  }
  if (open.size > 0) found.add("$.input", `no output for ${[...open.keys()].join(", ")}`);
}

/** True for what the caller answers. The vendor's own shell has outputs too, which are not. */
function isAnswer(item: JsonObject, open: ReadonlyMap<string, string>): boolean {
  const key = answeredBy(item);
  if (key === undefined) return isOutput(item);
  return item["type"] !== "shell_call_output" || open.has(key);
}

/** Reasoning stands directly before the item that followed it. */
function checkReasoning(found: Violations, input: readonly Json[]): void {
  for (const [at, item] of input.entries()) {
    if (!isJsonObject(item) || item["type"] !== "reasoning") continue;
    const next = input[at + 1];
    if (!isJsonObject(next) || isUserMessage(next) || isLast(next)) {
      found.add(`$.input[${at}]`, "reasoning without its following item");
    }
  }
}

/** True for what may end a request, and can't follow reasoning. */
function isLast(item: JsonObject): boolean {
  return isOutput(item) || answeredBy(item) !== undefined;
}

function checkEnds(found: Violations, input: readonly Json[]): void {
  const last = input.at(-1);
  if (isJsonObject(last) && !isUserMessage(last) && !isLast(last)) {
    found.add("$.input", "ends with the model");
  }
  const first = input.find((item) => !(isJsonObject(item) && isInstruction(item)));
  if (!isJsonObject(first) || !isUserMessage(first)) {
    found.add("$.input", "the first one to speak is not the user");
  }
}

function isInstruction(item: JsonObject): boolean {
  return item["role"] === "system" || item["role"] === "developer";
}
