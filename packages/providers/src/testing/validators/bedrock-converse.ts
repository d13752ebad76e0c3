import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { checkConverseBlock } from "./bedrock-blocks.ts";
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
import { anthropicFormat, checkReplySchema } from "./check-schema.ts";

/** What the rules depend on beside the body, which does not have the model. */
export interface ConverseRules {
  readonly model: string;
}

interface SentMessage {
  readonly role: string;
  readonly blocks: readonly JsonObject[];
  readonly path: string;
}

/**
 * The violations that Bedrock would refuse in the body of ConverseStream. From the shapes of
 * @aws-sdk/client-bedrock-runtime (models_0.d.ts, enums.d.ts), their comments, and Claude's own rules.
 */
export function validateBedrockConverse(body: unknown, { model }: ConverseRules): string[] {
  const found = new Violations();
  if (!checkBody(found, body)) return found.list;
  checkShape(found, body, "$", bodyShape);
  if (body["system"] !== undefined && checkList(found, body["system"], "$.system")) {
    for (const [at, block] of body["system"].entries()) {
      checkConverseBlock(found, block, { path: `$.system[${at}]`, place: "system" });
    }
  }
  checkInference(found, body["inferenceConfig"]);
  checkTools(found, body["toolConfig"]);
  checkOutput(found, body["outputConfig"], model);
  if (!checkList(found, body["messages"], "$.messages")) return found.list;
  const messages = body["messages"].map((message, at) =>
    readMessage(found, message, `$.messages[${at}]`),
  );
  checkRoles(found, messages);
  checkCalls(found, messages, { hasTools: body["toolConfig"] !== undefined, model });
  checkDocuments(found, messages);
  if (model.includes("claude")) checkThinking(found, messages, body);
  return found.list;
}

const bodyShape = shape(
  "messages",
  `additionalModelRequestFields additionalModelResponseFieldPaths guardrailConfig inferenceConfig
   outputConfig performanceConfig promptVariables requestMetadata serviceTier system toolConfig`,
);

function checkInference(found: Violations, config: Json | undefined): void {
  const allowed = shape("", "maxTokens temperature topP stopSequences");
  if (config !== undefined) checkShape(found, config, "$.inferenceConfig", allowed);
}

function checkTools(found: Violations, config: Json | undefined): void {
  if (config === undefined) return;
  if (!checkShape(found, config, "$.toolConfig", shape("tools", "toolChoice"))) return;
  const names = new Set<string>();
  if (!checkList(found, config["tools"], "$.toolConfig.tools")) return;
  for (const [at, tool] of config["tools"].entries()) {
    const path = `$.toolConfig.tools[${at}]`;
    if (!checkShape(found, tool, path, shape("", "toolSpec systemTool cachePoint"))) continue;
    if (Object.keys(tool).length !== 1) found.add(path, "not one of the union");
    const spec = tool["toolSpec"];
    if (spec === undefined) continue;
    if (!checkShape(found, spec, `${path}.toolSpec`, specShape)) continue;
    if (checkText(found, spec["name"], `${path}.name`, functionName)) {
      checkUnique(found, names, spec["name"], `${path}.name`);
    }
    if (spec["description"] !== undefined) checkText(found, spec["description"], `${path}.about`);
    if (checkShape(found, spec["inputSchema"], `${path}.inputSchema`, shape("json"))) {
      const rule = { properties: "optional" } as const;
      checkToolSchema(found, spec["inputSchema"]["json"], `${path}.inputSchema.json`, rule);
    }
  }
  const choice = config["toolChoice"];
  if (choice === undefined) return;
  const [kind, ...more] = isJsonObject(choice) ? Object.keys(choice) : [];
  if (more.length > 0) found.add("$.toolConfig.toolChoice", "not one of the union");
  checkOneOf(found, kind, "$.toolConfig.toolChoice", ["auto", "any", "tool"]);
  const tool = isJsonObject(choice) ? choice["tool"] : undefined;
  if (isJsonObject(tool) && !names.has(word(tool["name"]))) {
    found.add("$.toolConfig.toolChoice.tool.name", "not among the tools");
  }
}

const specShape = shape("name inputSchema", "description strict");

function checkOutput(found: Violations, config: Json | undefined, model: string): void {
  const path = "$.outputConfig";
  if (config === undefined || !checkShape(found, config, path, shape("", "textFormat effort"))) {
    return;
  }
  const format = config["textFormat"];
  if (format === undefined) return;
  if (!checkShape(found, format, path, shape("type structure"))) return;
  checkOneOf(found, format["type"], `${path}.type`, ["json_schema"]);
  const { structure } = format;
  if (!checkShape(found, structure, `${path}.structure`, shape("jsonSchema"))) return;
  const { jsonSchema } = structure;
  const place = `${path}.structure.jsonSchema`;
  if (!checkShape(found, jsonSchema, place, shape("schema", "name description"))) return;
  if (!/claude-(?:(?:opus|sonnet|haiku)-4-[5-9]|[a-z]+-[5-9])/.test(model)) {
    found.add(path, "not for this model");
  }
  if (checkText(found, jsonSchema["schema"], place)) {
    checkReplySchema(found, JSON.parse(jsonSchema["schema"]) as Json, place, anthropicFormat);
  }
}

function readMessage(found: Violations, message: Json, path: string): SentMessage {
  if (!checkShape(found, message, path, shape("role content"))) {
    return { role: "", blocks: [], path };
  }
  const { role, content } = message as Readonly<Record<string, Json>>;
  checkOneOf(found, role, `${path}.role`, ["user", "assistant"]);
  if (!checkList(found, content, `${path}.content`)) return { role: word(role), blocks: [], path };
  for (const [at, block] of content.entries()) {
    checkConverseBlock(found, block, { path: `${path}.content[${at}]`, place: word(role) });
  }
  return { role: word(role), blocks: content.filter(isJsonObject), path };
}

function checkRoles(found: Violations, messages: readonly SentMessage[]): void {
  for (const [at, { role, path }] of messages.entries()) {
    if (role !== (at % 2 === 0 ? "user" : "assistant")) found.add(path, "roles do not alternate");
  }
  if (messages.at(-1)?.role !== "user") found.add("$.messages", "do not end with the user");
}

function partOf(block: JsonObject, key: string): JsonObject | undefined {
  return isJsonObject(block[key]) ? block[key] : undefined;
}

function isServer(block: JsonObject): boolean {
  return partOf(block, "toolUse")?.["type"] === "server_tool_use";
}

/** Each call is answered once, in the next message. Tools that the vendor runs are answered in their own. */
function checkCalls(
  found: Violations,
  messages: readonly SentMessage[],
  { hasTools, model }: { readonly hasTools: boolean; readonly model: string },
): void {
  const ids = new Set<string>();
  let open = new Set<string>();
  for (const { role, blocks, path } of messages) {
    const own = new Set(
      blocks.filter(isServer).map((each) => word(partOf(each, "toolUse")?.["toolUseId"])),
    );
    for (const block of blocks) {
      const id = word(partOf(block, "toolResult")?.["toolUseId"]);
      if (block["toolResult"] === undefined) continue;
      if (role === "assistant" ? !own.delete(id) : !open.delete(id)) {
        found.add(path, `a result without its call before it: ${id}`);
      }
    }
    if (own.size > 0) found.add(path, `no result for ${[...own].join(", ")}`);
    if (open.size > 0) found.add(path, `no result right behind ${[...open].join(", ")}`);
    open = new Set();
    for (const block of blocks) {
      if (block["toolUse"] === undefined || isServer(block)) continue;
      const id = word(partOf(block, "toolUse")?.["toolUseId"]);
      checkUnique(found, ids, id, path);
      open.add(id);
      if (/mistral/.test(model) && !/^[a-zA-Z0-9]{9}$/.test(id)) {
        found.add(path, `Mistral takes ids of nine letters and digits, not ${id}`);
      }
      if (!hasTools) found.add("$.toolConfig", "missing, though there are calls");
    }
  }
  if (open.size > 0) found.add("$.messages", `no result for ${[...open].join(", ")}`);
}

/** Names of documents are unique, and a message with a document has a text. */
function checkDocuments(found: Violations, messages: readonly SentMessage[]): void {
  const names = new Set<string>();
  for (const { blocks, path } of messages) {
    const inner = blocks.flatMap((block) => {
      const content = partOf(block, "toolResult")?.["content"];
      return Array.isArray(content) ? (content as readonly Json[]).filter(isJsonObject) : [];
    });
    const documents = [...blocks, ...inner].filter((block) => block["document"] !== undefined);
    for (const block of documents) {
      checkUnique(found, names, word(partOf(block, "document")?.["name"]), path);
    }
    const hasText = blocks.some((block) => block["text"] !== undefined);
    if (blocks.some((block) => block["document"] !== undefined) && !hasText) {
      found.add(path, "a document without a text beside it");
    }
  }
}

/** In the current run of calls, Claude wants reasoning first if thinking is enabled, and none if it is not. */
function checkThinking(
  found: Violations,
  messages: readonly SentMessage[],
  body: JsonObject,
): void {
  const fields = partOf(body, "additionalModelRequestFields");
  const thinking = fields === undefined ? undefined : partOf(fields, "thinking");
  const mode = word(thinking?.["type"]) || "disabled";
  const isReasoning = (block: JsonObject | undefined): boolean =>
    block?.["reasoningContent"] !== undefined;
  const start = messages.findLastIndex(
    ({ role, blocks }) =>
      role === "user" && !blocks.some((block) => block["toolResult"] !== undefined),
  );
  for (const [at, { role, blocks, path }] of messages.entries()) {
    if (role !== "assistant") continue;
    const call = blocks.findIndex((block) => block["toolUse"] !== undefined && !isServer(block));
    if (isReasoning(blocks.at(-1))) found.add(path, "ends with reasoning");
    if (call >= 0 && blocks.slice(call).some(isReasoning))
      found.add(path, "reasoning after a call");
    if (at < start) continue;
    if (mode === "enabled" && !isReasoning(blocks[0]))
      found.add(path, "does not begin with reasoning");
    if (mode === "disabled" && blocks.some(isReasoning))
      found.add(path, "reasoning while disabled");
  }
}
