import type { JsonObject } from "@millrace/core";
import { objectsAt, textAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import { betas, pathOf, takesToolChanges } from "./betas.ts";
import { typeOf } from "./body.ts";
import type { ClaudeBody, ClaudeMessage } from "./body.ts";

/** The fields of a block beside its type. Those with a question mark may be left out. */
const fieldsOf: Readonly<Record<string, string>> = {
  text: "text cache_control? citations?",
  image: "source cache_control?",
  document: "source cache_control? citations? context? title?",
  search_result: "content source title cache_control? citations?",
  container_upload: "file_id cache_control?",
  thinking: "thinking signature",
  redacted_thinking: "data",
  tool_use: "id name input cache_control? caller? toolset_name?",
  tool_result: "tool_use_id cache_control? content? is_error? toolset_name?",
  server_tool_use: "id name input cache_control? caller?",
  mcp_tool_use: "id name server_name input cache_control?",
  mcp_tool_result: "tool_use_id cache_control? content? is_error?",
  fallback: "from to trigger?",
  tool_addition: "tool cache_control?",
  tool_removal: "tool cache_control?",
  compaction: "content signature? encrypted_content? cache_control? tool_changes?",
};

/** The fields of results of tools that the vendor runs, of which new ones appear often. */
const serverResult = "tool_use_id content cache_control? caller?";

/** Blocks that the vendor takes with a beta only. */
const needsBeta: Readonly<Record<string, (body: ClaudeBody) => boolean>> = {
  tool_addition: takesToolChanges,
  tool_removal: takesToolChanges,
  compaction: ({ betas: sent }) => sent.has(betas.compaction),
};

/** Checks the type and the fields of each block of a message. */
export function checkBlocks(body: ClaudeBody, message: ClaudeMessage): void {
  for (const [at, block] of message.blocks.entries()) {
    const path = pathOf(message, at);
    checkBlock(body, block, path);
    checkRole(message, typeOf(block));
    if (typeOf(block) === "tool_result") {
      for (const [index, inner] of objectsAt(block, "content").entries()) {
        checkBlock(body, inner, `${path}.tool_result.content.${index}`);
      }
    }
  }
}

/** Checks the top-level system prompt. */
export function checkSystemPrompt({ system }: ClaudeBody): void {
  for (const [at, block] of system.entries()) {
    if (typeOf(block) !== "text") refuse(`system.${at}.type: Input should be 'text'`);
    checkFields(block, "type text cache_control? citations?", `system.${at}`);
    checkText(block, "system");
  }
}

function checkBlock(body: ClaudeBody, block: JsonObject, path: string): void {
  const type = typeOf(block);
  if (type === "tool_reference") return;
  const isServer = type.endsWith("_tool_result") && !Object.hasOwn(fieldsOf, type);
  const allowed = isServer ? serverResult : fieldsOf[type];
  if (allowed === undefined || needsBeta[type]?.(body) === false) {
    const tags = Object.keys(fieldsOf).filter((tag) => needsBeta[tag]?.(body) !== false);
    const expected = tags
      .toSorted()
      .map((tag) => `'${tag}'`)
      .join(", ");
    refuse(
      `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags: ${expected}`,
    );
  }
  checkFields(block, `type ${allowed}`, `${path}.${type}`);
  if (type === "text") checkText(block, "messages");
}

/** Refuses missing and unknown fields. `allowed` has the names, with a question mark if optional. */
export function checkFields(value: JsonObject, allowed: string, path: string): void {
  const names = allowed.split(" ");
  const prefix = path === "" ? "" : `${path}.`;
  for (const key of Object.keys(value)) {
    if (!names.includes(key) && !names.includes(`${key}?`)) {
      refuse(`${prefix}${key}: Extra inputs are not permitted`);
    }
  }
  for (const name of names) {
    if (!name.endsWith("?") && !Object.hasOwn(value, name)) {
      refuse(`${prefix}${name}: Field required`);
    }
  }
}

function checkText(block: JsonObject, place: string): void {
  const text = textAt(block, "text") ?? "";
  if (text === "") refuse(`${place}: text content blocks must be non-empty`);
  if (text.trim() === "") refuse(`${place}: text content blocks must contain non-whitespace text`);
}

const assistantOnly = [
  "thinking",
  "redacted_thinking",
  "tool_use",
  "server_tool_use",
  "mcp_tool_use",
];

function checkRole(message: ClaudeMessage, type: string): void {
  const { role } = message;
  const isChange = type === "tool_addition" || type === "tool_removal";
  if (role === "system") {
    if (type === "text" || isChange) return;
    refuse(
      `${pathOf(message)}: role 'system' supports text, tool_addition, and tool_removal blocks only`,
    );
  }
  if (isChange) refuse(`${pathOf(message)}: \`${type}\` blocks can only be in \`system\` messages`);
  if (role === "user" && assistantOnly.includes(type)) {
    refuse(`${pathOf(message)}: \`${type}\` blocks can only be in \`assistant\` messages`);
  }
  if (role === "assistant" && type === "tool_result") {
    refuse(`${pathOf(message)}: \`tool_result\` blocks can only be in \`user\` messages`);
  }
}
