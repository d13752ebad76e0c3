import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { checkBlock } from "./anthropic-blocks.ts";
import { checkCalls, checkServerTools, checkThinking } from "./anthropic-order.ts";
import {
  checkBody,
  checkList,
  checkOneOf,
  checkShape,
  checkText,
  checkToolSchema,
  checkUnique,
  shape,
  Violations,
  word,
} from "./check.ts";
import { anthropicFormat, checkReplySchema } from "./check-schema.ts";

/** One message: its role and content. */
export interface SentMessage {
  readonly role: string;
  readonly blocks: readonly JsonObject[];
  readonly path: string;
}

export interface MessagesRules {
  /** Types of blocks that are newer than this validator, which are accepted unchecked. */
  readonly later?: readonly string[];
}

/** The violations that the vendor of the Messages API would refuse in a request's body. */
export function validateAnthropicMessages(body: unknown, rules: MessagesRules = {}): string[] {
  const found = new Violations();
  if (!checkBody(found, body)) return found.list;
  checkShape(found, body, "$", bodyShape);
  checkText(found, body["model"], "$.model");
  if (body["system"] !== undefined) checkSystem(found, body["system"]);
  checkSettings(found, body);
  checkTools(found, body);
  if (body["output_config"] !== undefined) checkOutput(found, body);
  if (!checkList(found, body["messages"], "$.messages")) return found.list;
  const messages = body["messages"].map((message, at) =>
    readMessage(found, message, `$.messages[${at}]`, rules.later),
  );
  checkRoles(found, messages);
  checkCalls(found, messages, body["tools"] !== undefined);
  checkServerTools(found, messages);
  checkThinking(found, messages, thinkingMode(body));
  checkLast(found, messages);
  return found.list;
}

const bodyShape = shape(
  "model messages max_tokens",
  `
    cache_control container context_management mcp_servers metadata output_config
    service_tier stop_sequences stream system temperature thinking tool_choice tools
    top_k top_p`,
);

function checkSystem(found: Violations, system: Json): void {
  if (typeof system === "string") {
    if (system.trim() === "") found.add("$.system", "empty");
  } else if (checkList(found, system, "$.system")) {
    for (const [at, block] of system.entries()) {
      checkBlock(found, block, `$.system[${at}]`, { place: "system" });
    }
  }
}

function checkOutput(found: Violations, body: JsonObject): void {
  const path = "$.output_config";
  const config = body["output_config"];
  if (!checkShape(found, config, path, outputShape)) return;
  const { effort, format } = config as Partial<JsonObject>;
  if (effort !== undefined) checkOneOf(found, effort, `${path}.effort`, efforts);
  if (format === undefined || !checkShape(found, format, `${path}.format`, formatShape)) return;
  checkOneOf(found, format["type"], `${path}.format.type`, ["json_schema"]);
  if (!/^claude-(?:(?:opus|sonnet|haiku)-4-[5-9]|[a-z]+-[5-9])/.test(word(body["model"]))) {
    found.add(`${path}.format`, "not for this model");
  }
  checkReplySchema(found, format["schema"], `${path}.format.schema`, anthropicFormat);
}

const efforts = ["low", "medium", "high", "xhigh", "max"];
const outputShape = shape("", "effort format task_budget");
const formatShape = shape("type schema");

function thinkingMode(body: JsonObject): string {
  const thinking = body["thinking"];
  return isJsonObject(thinking) ? word(thinking["type"]) : "disabled";
}

function checkSettings(found: Violations, body: JsonObject): void {
  const most = body["max_tokens"];
  if (typeof most !== "number" || !Number.isInteger(most) || most < 1) {
    found.add("$.max_tokens", "not a positive integer");
  }
  const thinking = body["thinking"];
  if (thinking === undefined) return;
  const mode = thinkingMode(body);
  checkOneOf(found, mode, "$.thinking.type", ["enabled", "disabled", "adaptive"]);
  if (!checkShape(found, thinking, "$.thinking", thinkingShapes[mode] ?? shape("type"))) return;
  const budget = thinking["budget_tokens"];
  if (mode === "enabled") {
    if (typeof budget !== "number" || budget < 1024) {
      found.add("$.thinking.budget_tokens", "under 1024");
    } else if (typeof most === "number" && budget >= most) {
      found.add("$.max_tokens", "not more than the budget of thinking");
    }
  }
  if (mode !== "disabled") {
    const choice = body["tool_choice"];
    if (isJsonObject(choice) && (choice["type"] === "any" || choice["type"] === "tool")) {
      found.add("$.tool_choice", "forces a tool while thinking");
    }
    if (body["temperature"] !== undefined && body["temperature"] !== 1) {
      found.add("$.temperature", "not 1 while thinking");
    }
  }
}

const thinkingShapes: Readonly<Record<string, ReturnType<typeof shape>>> = {
  enabled: shape("type budget_tokens", "display block_binding"),
  adaptive: shape("type", "display block_binding"),
  disabled: shape("type"),
};

const nativeFields = "allowed_callers cache_control defer_loading input_examples strict";
/** The vendor's own tools that the caller runs. */
const nativeToolShapes: Readonly<Record<string, ReturnType<typeof shape>>> = {
  computer_20250124: shape(
    "type name display_width_px display_height_px",
    `${nativeFields} display_number`,
  ),
  computer_20251124: shape(
    "type name display_width_px display_height_px",
    `${nativeFields} display_number enable_zoom`,
  ),
  bash_20250124: shape("type name", nativeFields),
  text_editor_20250124: shape("type name", nativeFields),
  text_editor_20250728: shape("type name", `${nativeFields} max_characters`),
  memory_20250818: shape("type name", nativeFields),
};

function checkTools(found: Violations, body: JsonObject): void {
  const { tools, tool_choice: choice } = body as { tools?: Json; tool_choice?: Json };
  const names = new Set<string>();
  if (tools !== undefined && checkList(found, tools, "$.tools")) {
    for (const [at, tool] of tools.entries()) {
      const path = `$.tools[${at}]`;
      if (!isJsonObject(tool)) {
        found.add(path, "not an object");
        continue;
      }
      const ours = (tool["type"] ?? "custom") === "custom";
      const known = ours ? toolShape : nativeToolShapes[word(tool["type"])];
      if (known !== undefined) checkShape(found, tool, path, known);
      if (checkText(found, tool["name"], `${path}.name`, toolName)) {
        checkUnique(found, names, tool["name"], `${path}.name`);
      }
      if (tool["description"] !== undefined) {
        checkText(found, tool["description"], `${path}.description`, { empty: "allowed" });
      }
      if (ours) {
        const at = `${path}.input_schema`;
        checkToolSchema(found, tool["input_schema"], at, { properties: "optional" });
      }
    }
  }
  if (choice === undefined) return;
  if (tools === undefined) found.add("$.tool_choice", "only taken with tools");
  if (!isJsonObject(choice)) found.add("$.tool_choice", "not an object");
  else if (checkOneOf(found, choice["type"], "$.tool_choice.type", choices)) {
    const isNamed = choice["type"] === "tool";
    if (isNamed && !names.has(word(choice["name"]))) {
      found.add("$.tool_choice.name", "not among the tools");
    }
  }
}

const toolName = { pattern: /^[a-zA-Z0-9_-]{1,128}$/ } as const;
const choices = ["auto", "any", "tool", "none"];
const toolShape = shape(
  "name input_schema",
  `
    type description cache_control strict defer_loading allowed_callers
    eager_input_streaming input_examples`,
);

function readMessage(
  found: Violations,
  message: Json,
  path: string,
  later: readonly string[] | undefined,
): SentMessage {
  if (!checkShape(found, message, path, messageShape)) return { role: "", blocks: [], path };
  const { role, content } = message as Record<string, Json>;
  checkOneOf(found, role, `${path}.role`, ["user", "assistant"]);
  if (typeof content === "string") {
    const block = { type: "text", text: content };
    checkBlock(found, block, `${path}.content`, { place: word(role) });
    return { role: word(role), blocks: [block], path };
  }
  if (!checkList(found, content, `${path}.content`)) return { role: word(role), blocks: [], path };
  for (const [at, block] of content.entries()) {
    checkBlock(found, block, `${path}.content[${at}]`, { place: word(role), later });
  }
  return { role: word(role), blocks: content.filter(isJsonObject), path };
}

const messageShape = shape("role content");

function checkRoles(found: Violations, messages: readonly SentMessage[]): void {
  if (messages[0]?.role !== "user") found.add("$.messages[0]", "the first one is not the user");
  for (const [at, { role, path }] of messages.entries()) {
    if (at > 0 && messages[at - 1]?.role === role) found.add(path, `${role} twice in a row`);
  }
}

/** The last message must not be the assistant's, unless it is a turn that the vendor paused. */
function checkLast(found: Violations, messages: readonly SentMessage[]): void {
  const last = messages.at(-1);
  if (last?.role !== "assistant") return;
  const isPaused = last.blocks.some(({ type }) => pausing.includes(word(type)));
  if (!isPaused) found.add(last.path, "ends with the assistant");
  const final = last.blocks.at(-1);
  if (final?.["type"] === "text" && /\s$/.test(word(final["text"]))) {
    found.add(last.path, "final assistant content ends in white space");
  }
}

/** A server tool that still runs, or a compaction after which the vendor waits. */
const pausing = ["server_tool_use", "mcp_tool_use", "compaction"];
