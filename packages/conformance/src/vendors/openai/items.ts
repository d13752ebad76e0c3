import type { JsonObject } from "@millrace/core";
import { isJsonObject } from "@millrace/core/json";
import { objectAt, objectsAt, textAt } from "../json.ts";
import { refuse } from "../refusal.ts";

/** A request of the Responses API, read once for all checks. */
export interface ResponsesBody {
  readonly fields: JsonObject;
  readonly model: string;
  readonly items: readonly JsonObject[];
  readonly isStored: boolean;
}

const bodyFields: ReadonlySet<string> = new Set(
  `access_programs background context_management conversation image include input instructions
   max_output_tokens max_tool_calls metadata model moderation parallel_tool_calls
   previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention
   reasoning safety_identifier service_tier store stream stream_options temperature text
   tool_choice tools top_logprobs top_p truncation user`.split(/\s+/),
);

/** Reads the body and checks the names of its fields. */
export function readResponsesBody(fields: JsonObject): ResponsesBody {
  for (const key of Object.keys(fields)) {
    if (!bodyFields.has(key)) refuse(`Unknown parameter: '${key}'.`, { code: "unknown_parameter" });
  }
  const model = textAt(fields, "model");
  if (model === undefined) return refuse("Missing required parameter: 'model'.");
  const input = fields["input"];
  const items =
    typeof input === "string"
      ? [{ type: "message", role: "user", content: input }]
      : objectsAt(fields, "input");
  if (items.length === 0) refuse("Missing required parameter: 'input'.");
  return { fields, model, items, isStored: fields["store"] !== false };
}

export function itemType(item: JsonObject | undefined): string {
  return textAt(item, "type") ?? (item?.["role"] === undefined ? "" : "message");
}

/** True for an item that the model produced. */
export function isOfModel(item: JsonObject | undefined): boolean {
  if (item === undefined) return false;
  const type = itemType(item);
  if (type === "message") return item["role"] === "assistant";
  return type === "reasoning" || type.endsWith("_call");
}

/** The text of a message, whether it is a string or a list of parts. */
export function messageText(item: JsonObject | undefined): string {
  const content = item?.["content"];
  if (typeof content === "string") return content;
  return objectsAt(item, "content")
    .flatMap((part) => textAt(part, "text") ?? [])
    .join("\n");
}

/** Checks the types of items, that no id occurs twice, and that calls and outputs are pairs. */
export function checkItems({ items }: ResponsesBody): void {
  const ids = new Set<string>();
  const open = new Set<string>();
  for (const [at, item] of items.entries()) {
    checkItem(item, at);
    const id = textAt(item, "id");
    if (id !== undefined && ids.has(id)) {
      refuse(
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
      );
    }
    if (id !== undefined) ids.add(id);
    const callId = textAt(item, "call_id") ?? "";
    switch (itemType(item)) {
      case "function_call":
      case "custom_tool_call":
        open.add(callId);
        break;
      case "function_call_output":
      case "custom_tool_call_output":
        if (!open.delete(callId)) {
          refuse(`No tool call found for function call output with call_id ${callId}.`);
        }
        break;
      default:
    }
  }
  const [missing] = open;
  if (missing !== undefined) refuse(`No tool output found for function call ${missing}.`);
}

const roles = ["user", "assistant", "system", "developer"];

function checkItem(item: JsonObject, at: number): void {
  switch (itemType(item)) {
    case "":
      return refuse(`Missing required parameter: 'input[${at}].type'.`);
    case "message": {
      const role = textAt(item, "role") ?? "";
      if (roles.includes(role)) return;
      return refuse(
        `Invalid value: '${role}'. Supported values are: 'assistant', 'system', 'developer', and 'user'.`,
        { code: "invalid_value" },
      );
    }
    case "configuration_update":
      return checkKeys(item, at, ["type", "id", "reasoning", "text"]);
    case "additional_tools":
      return checkKeys(item, at, ["type", "id", "role", "tools"]);
    default:
  }
}

function checkKeys(item: JsonObject, at: number, allowed: readonly string[]): void {
  const extra = Object.keys(item).find((key) => !allowed.includes(key));
  if (extra !== undefined) {
    refuse(`Unknown parameter: 'input[${at}].${extra}'.`, { code: "unknown_parameter" });
  }
}

/** Checks tools that items add. Returns the names of all tools that may be called. */
export function checkTools({ fields, items }: ResponsesBody): readonly string[] {
  const declared = objectsAt(fields, "tools").map(nameOf);
  const added = new Set<string>();
  for (const [at, item] of items.entries()) {
    if (itemType(item) !== "additional_tools") continue;
    if (item["role"] !== "developer") {
      refuse(`Invalid value: '${textAt(item, "role") ?? ""}'. Supported values are: 'developer'.`, {
        code: "invalid_value",
      });
    }
    const tools = objectsAt(item, "tools");
    if (tools.length === 0) {
      refuse(
        `Invalid 'input[${at}].tools': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
        { code: "empty_array" },
      );
    }
    for (const [index, tool] of tools.entries()) {
      const name = nameOf(tool);
      if (declared.includes(name)) {
        refuse(
          `Invalid 'input[${at}].tools[${index}].name': '${name}' is declared in 'tools' already.`,
          { code: "invalid_value" },
        );
      }
      added.add(name);
    }
  }
  const names = [...declared, ...added];
  const allowed = allowedTools(fields);
  for (const name of allowed ?? []) {
    if (!names.includes(name)) refuse(`Tool choice '${name}' not found in 'tools' parameter.`);
  }
  return allowed ?? names;
}

function nameOf(tool: JsonObject): string {
  return textAt(tool, "name") ?? textAt(tool, "type") ?? "";
}

function allowedTools(fields: JsonObject): readonly string[] | undefined {
  const choice = objectAt(fields, "tool_choice");
  if (choice?.["type"] !== "allowed_tools") return undefined;
  const tools = choice["tools"];
  return Array.isArray(tools) ? tools.filter(isJsonObject).map(nameOf) : [];
}
