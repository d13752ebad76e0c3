import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { listAt, objectAt, objectsAt, textAt } from "../json.ts";
import { refuse } from "../refusal.ts";

/** Converts the body of Converse to the fields of the Messages API, whose rules it has for Claude. */
export function messagesFields(body: JsonObject): JsonObject {
  const messages = objectsAt(body, "messages").map(convertMessage);
  checkRoles(messages);
  const { anthropic_beta: _, ...more } = objectAt(body, "additionalModelRequestFields") ?? {};
  const inference = objectAt(body, "inferenceConfig");
  const config = objectAt(body, "toolConfig");
  if (config === undefined && messages.some(hasCalls)) {
    refuse(
      "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
    );
  }
  const output = objectAt(body, "outputConfig");
  const system = marked(listAt(body, "system"), (block, at) => {
    const text = textAt(block, "text") ?? "";
    if (text.trim() === "")
      refuse(`The text field in the SystemContentBlock at system.${at} is blank.`);
    return { type: "text", text };
  });
  return {
    max_tokens: inference?.["maxTokens"] ?? 4096,
    ...renamed(inference, {
      temperature: "temperature",
      topP: "top_p",
      stopSequences: "stop_sequences",
    }),
    ...more,
    ...(output === undefined ? {} : { output_config: outputConfig(output, more["output_config"]) }),
    ...(system.length === 0 ? {} : { system }),
    ...(config === undefined ? {} : { tools: marked(listAt(config, "tools"), convertTool) }),
    ...toolChoice(objectAt(config, "toolChoice")),
    messages,
  };
}

/** The betas that a request names among the model's own fields. */
export function converseBetas(body: JsonObject): readonly string[] {
  return listAt(objectAt(body, "additionalModelRequestFields"), "anthropic_beta").filter(
    (beta) => typeof beta === "string",
  );
}

function renamed(
  from: JsonObject | undefined,
  names: Readonly<Record<string, string>>,
): JsonObject {
  return Object.fromEntries(
    Object.entries(names).flatMap(([key, name]) => {
      const value = from?.[key];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function outputConfig({ textFormat, effort }: JsonObject, given: Json | undefined): JsonObject {
  return {
    ...(isJsonObject(given) ? given : {}),
    ...(effort === undefined ? {} : { effort }),
    ...(textFormat === undefined ? {} : { format: textFormat }),
  };
}

function toolChoice(choice: JsonObject | undefined): JsonObject {
  if (choice === undefined) return {};
  const [type = "auto"] = Object.keys(choice);
  const name = textAt(objectAt(choice, "tool"), "name");
  return { tool_choice: { type, ...(name === undefined ? {} : { name }) } };
}

function convertTool(tool: JsonObject): JsonObject {
  const spec = objectAt(tool, "toolSpec") ?? {};
  return {
    ...renamed(spec, { name: "name", description: "description", strict: "strict" }),
    input_schema: objectAt(spec, "inputSchema")?.["json"] ?? {},
  };
}

/** Converts a list. A cache point in it becomes the mark of the block before it. */
function marked(
  blocks: readonly Json[],
  convert: (block: JsonObject, at: number) => JsonObject,
): JsonObject[] {
  const converted: JsonObject[] = [];
  for (const [at, block] of blocks.filter(isJsonObject).entries()) {
    const point = objectAt(block, "cachePoint");
    if (point === undefined) {
      converted.push(convert(block, at));
      continue;
    }
    const last = converted.pop();
    if (last === undefined) return refuse("A cachePoint must follow the content that it caches.");
    const ttl = point["ttl"] === undefined ? {} : { ttl: point["ttl"] };
    converted.push({ ...last, cache_control: { type: "ephemeral", ...ttl } });
  }
  return converted;
}

function convertMessage(message: JsonObject, at: number): JsonObject {
  const role = textAt(message, "role") ?? "";
  if (role !== "user" && role !== "assistant") {
    refuse(
      `1 validation error detected: Value '${role}' at 'messages.${at + 1}.member.role' failed to satisfy constraint: Member must satisfy enum value set: [user, assistant]`,
    );
  }
  return {
    role,
    content: marked(listAt(message, "content"), (block, index) =>
      convertBlock(block, `messages.${at}.content.${index}`),
    ),
  };
}

function convertBlock(block: JsonObject, path: string): JsonObject {
  const { text } = block as Partial<JsonObject>;
  if (typeof text === "string") {
    if (text.trim() === "") {
      refuse(
        `The text field in the ContentBlock object at ${path} is blank. Add text to the text field, and try again.`,
      );
    }
    return { type: "text", text };
  }
  const use = objectAt(block, "toolUse");
  if (use !== undefined) {
    return { type: "tool_use", ...renamed(use, { toolUseId: "id", name: "name", input: "input" }) };
  }
  const result = objectAt(block, "toolResult");
  if (result !== undefined) return convertResult(result, path);
  const reasoning = objectAt(block, "reasoningContent");
  if (reasoning !== undefined) {
    const shown = objectAt(reasoning, "reasoningText");
    if (shown === undefined) {
      return { type: "redacted_thinking", data: reasoning["redactedContent"] ?? "" };
    }
    return { type: "thinking", ...renamed(shown, { text: "thinking", signature: "signature" }) };
  }
  const [kind = ""] = Object.keys(block);
  if (!["image", "document", "json"].includes(kind)) {
    refuse(`The content block at ${path} has no member that Claude takes: ${kind}`);
  }
  if (kind === "json") return { type: "text", text: JSON.stringify(block["json"]) };
  return { type: kind, source: objectAt(block, kind)?.["source"] ?? {} };
}

function convertResult(result: JsonObject, path: string): JsonObject {
  return {
    type: "tool_result",
    tool_use_id: result["toolUseId"] ?? "",
    content: listAt(result, "content")
      .filter(isJsonObject)
      .map((block, at) => convertBlock(block, `${path}.toolResult.content.${at}`)),
    ...(result["status"] === "error" ? { is_error: true } : {}),
  };
}

function hasCalls({ content }: JsonObject): boolean {
  return (content as readonly JsonObject[]).some(
    ({ type }) => type === "tool_use" || type === "tool_result",
  );
}

/** Converse merges nothing: roles alternate, and the user begins. */
function checkRoles(messages: readonly JsonObject[]): void {
  if (messages[0]?.["role"] === "assistant") {
    refuse(
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.",
    );
  }
  for (const [at, { role }] of messages.entries()) {
    if (at === 0 || messages[at - 1]?.["role"] !== role) continue;
    refuse(
      "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
    );
  }
}
