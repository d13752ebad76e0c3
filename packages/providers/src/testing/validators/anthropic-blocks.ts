import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { checkBase64, checkList, checkOneOf, checkShape, checkText, shape, word } from "./check.ts";
import type { Shape, Violations } from "./check.ts";

/**
 * Checks one block by itself. `place` is a role, `system` or `result`. Blocks of `later` types are
 * newer than this validator: only their names are known.
 */
export function checkBlock(
  found: Violations,
  block: Json,
  path: string,
  { place, later }: BlockPlace,
): void {
  if (!isJsonObject(block)) {
    found.add(path, "not an object");
    return;
  }
  const kind = word(block["type"]);
  const known = blocks[kind];
  if (known === undefined) {
    if (place !== "assistant" || later?.includes(kind) !== true) {
      found.add(`${path}.type`, `unknown block ${kind}`);
    }
    return;
  }
  if (!known.places.includes(place)) found.add(path, `${kind} is not taken from ${place}`);
  checkShape(found, block, path, known.shape);
  known.check?.(found, block, path);
}

export interface BlockPlace {
  readonly place: string;
  readonly later?: readonly string[] | undefined;
}

interface BlockRule {
  readonly places: readonly string[];
  readonly shape: Shape;
  readonly check?: (found: Violations, block: JsonObject, path: string) => void;
}

const callIdRule = { pattern: /^[a-zA-Z0-9_-]+$/ };
const serverIdRule = { pattern: /^srvtoolu_[a-zA-Z0-9_]+$/ };
/** Longer than those of declared tools: names in the history are checked less strictly. */
const callNameRule = { max: 200, pattern: /^[a-zA-Z0-9_-]+$/ };

function checkTextBlock(found: Violations, block: JsonObject, path: string): void {
  if (!checkText(found, block["text"], `${path}.text`)) return;
  if (block["text"].trim() === "") found.add(`${path}.text`, "only white space");
  const citations = block["citations"];
  if (citations === undefined || citations === null) return;
  if (!Array.isArray(citations)) {
    found.add(`${path}.citations`, "not an array");
    return;
  }
  for (const [at, citation] of (citations as readonly Json[]).entries()) {
    const allowed = isJsonObject(citation) ? citationShapes[word(citation["type"])] : undefined;
    if (allowed === undefined) found.add(`${path}.citations[${at}].type`, "unknown");
    else checkShape(found, citation, `${path}.citations[${at}]`, allowed);
  }
}

const cited = "type cited_text document_index document_title";
const citationShapes: Readonly<Record<string, Shape>> = {
  char_location: shape(`${cited} start_char_index end_char_index`),
  page_location: shape(`${cited} start_page_number end_page_number`),
  content_block_location: shape(`${cited} start_block_index end_block_index`),
  search_result_location: shape(`
    type cited_text source title search_result_index start_block_index end_block_index`),
  web_search_result_location: shape("type cited_text encrypted_index title url"),
};

const webAddress = /^https:\/\/\S+$/;

function checkImage(found: Violations, block: JsonObject, path: string): void {
  const source = block["source"];
  const kind = isJsonObject(source) ? word(source["type"]) : "";
  const at = `${path}.source`;
  if (!checkShape(found, source, at, sourceShapes[kind] ?? shape("type"))) return;
  if (!checkOneOf(found, kind, `${at}.type`, ["base64", "url", "file"])) return;
  if (kind === "url") checkText(found, source["url"], `${at}.url`, { pattern: webAddress });
  if (kind !== "base64") return;
  checkOneOf(found, source["media_type"], `${at}.media_type`, imageTypes);
  checkBase64(found, source["data"], `${at}.data`);
}

function checkDocument(found: Violations, block: JsonObject, path: string): void {
  if (block["title"] !== undefined && block["title"] !== null) {
    checkText(found, block["title"], `${path}.title`, { max: 500 });
  }
  const source = block["source"];
  const kind = isJsonObject(source) ? word(source["type"]) : "";
  const at = `${path}.source`;
  if (!checkShape(found, source, at, sourceShapes[kind] ?? shape("type"))) return;
  checkOneOf(found, kind, `${at}.type`, ["base64", "url", "text", "content", "file"]);
  if (kind === "base64") {
    checkOneOf(found, source["media_type"], `${at}.media_type`, ["application/pdf"]);
    checkBase64(found, source["data"], `${at}.data`);
  }
  if (kind === "url") checkText(found, source["url"], `${at}.url`, { pattern: webAddress });
  if (kind === "text") {
    checkOneOf(found, source["media_type"], `${at}.media_type`, ["text/plain"]);
    checkText(found, source["data"], `${at}.data`);
  }
}

const imageTypes = ["image/png", "image/jpeg", "image/gif", "image/webp"];
const sourceShapes: Readonly<Record<string, Shape>> = {
  base64: shape("type media_type data"),
  text: shape("type media_type data"),
  url: shape("type url"),
  file: shape("type file_id"),
  content: shape("type content"),
};

function checkToolUse(found: Violations, block: JsonObject, path: string): void {
  checkText(found, block["id"], `${path}.id`, callIdRule);
  checkText(found, block["name"], `${path}.name`, callNameRule);
  if (!isJsonObject(block["input"])) found.add(`${path}.input`, "not an object");
}

function checkToolResult(found: Violations, block: JsonObject, path: string): void {
  checkText(found, block["tool_use_id"], `${path}.tool_use_id`, callIdRule);
  const { content, is_error: isError } = block as { content?: Json; is_error?: Json };
  if (isError !== undefined && typeof isError !== "boolean") {
    found.add(`${path}.is_error`, "not a boolean");
  }
  const isEmpty = content === undefined || content === "" || isEmptyList(content);
  if (isError === true && isEmpty) found.add(path, "content is empty though it is an error");
  if (content === undefined || typeof content === "string") return;
  if (!Array.isArray(content)) {
    found.add(`${path}.content`, "neither text nor blocks");
    return;
  }
  for (const [at, inner] of (content as readonly Json[]).entries()) {
    checkBlock(found, inner, `${path}.content[${at}]`, { place: "result" });
    if (isError === true && isJsonObject(inner) && inner["type"] !== "text") {
      found.add(`${path}.content[${at}]`, "not text though it is an error");
    }
  }
}

function isEmptyList(value: Json): boolean {
  return Array.isArray(value) && value.length === 0;
}

function checkServerToolUse(found: Violations, block: JsonObject, path: string): void {
  checkText(found, block["id"], `${path}.id`, serverIdRule);
  checkOneOf(found, block["name"], `${path}.name`, serverTools);
  if (!isJsonObject(block["input"])) found.add(`${path}.input`, "not an object");
}

const serverTools = [
  "web_search",
  "web_fetch",
  "code_execution",
  "bash_code_execution",
  "advisor",
  "text_editor_code_execution",
  "tool_search_tool_regex",
  "tool_search_tool_bm25",
];

function checkServerResult(found: Violations, block: JsonObject, path: string): void {
  checkText(found, block["tool_use_id"], `${path}.tool_use_id`, callIdRule);
  if (typeof block["content"] !== "object" || block["content"] === null) {
    found.add(`${path}.content`, "neither an object nor a list");
  }
}

const serverResult: BlockRule = {
  places: ["assistant"],
  shape: shape("type tool_use_id content", "cache_control caller"),
  check: checkServerResult,
};

/** Blocks of each kind: the roles that may have them, their keys, and further rules. */
const blocks: Readonly<Record<string, BlockRule>> = {
  text: {
    places: ["user", "assistant", "system", "result"],
    shape: shape("type text", "cache_control citations"),
    check: checkTextBlock,
  },
  image: {
    places: ["user", "result"],
    shape: shape("type source", "cache_control"),
    check: checkImage,
  },
  document: {
    places: ["user", "result"],
    shape: shape("type source", "cache_control citations context title"),
    check: checkDocument,
  },
  search_result: {
    places: ["user", "result"],
    shape: shape("type content source title", "cache_control citations"),
    check: (found, block, path) => {
      checkList(found, block["content"], `${path}.content`);
    },
  },
  thinking: {
    places: ["assistant"],
    shape: shape("type thinking signature"),
    check: (found, block, path) => {
      checkText(found, block["thinking"], `${path}.thinking`, { empty: "allowed" });
      checkText(found, block["signature"], `${path}.signature`);
    },
  },
  redacted_thinking: {
    places: ["assistant"],
    shape: shape("type data"),
    check: (found, block, path) => {
      checkText(found, block["data"], `${path}.data`);
    },
  },
  tool_use: {
    places: ["assistant"],
    shape: shape("type id name input", "cache_control caller toolset_name"),
    check: checkToolUse,
  },
  tool_result: {
    places: ["user"],
    shape: shape("type tool_use_id", "cache_control content is_error toolset_name"),
    check: checkToolResult,
  },
  server_tool_use: {
    places: ["assistant"],
    shape: shape("type id name input", "cache_control caller"),
    check: checkServerToolUse,
  },
  web_search_tool_result: serverResult,
  web_fetch_tool_result: serverResult,
  code_execution_tool_result: serverResult,
  bash_code_execution_tool_result: serverResult,
  text_editor_code_execution_tool_result: serverResult,
  tool_search_tool_result: serverResult,
  advisor_tool_result: serverResult,
  container_upload: {
    places: ["user", "assistant"],
    shape: shape("type file_id", "cache_control"),
  },
  mcp_tool_use: {
    places: ["assistant"],
    shape: shape("type id name server_name input", "cache_control"),
    check: checkToolUse,
  },
  mcp_tool_result: {
    places: ["assistant"],
    shape: shape("type tool_use_id", "cache_control content is_error"),
    check: (found, block, path) => {
      checkText(found, block["tool_use_id"], `${path}.tool_use_id`, callIdRule);
    },
  },
  fallback: {
    places: ["assistant"],
    shape: shape("type from to", "trigger"),
  },
  compaction: {
    places: ["assistant"],
    shape: shape("type content", "cache_control encrypted_content"),
    check: (found, block, path) => {
      if (block["content"] !== null) checkText(found, block["content"], `${path}.content`);
    },
  },
};
