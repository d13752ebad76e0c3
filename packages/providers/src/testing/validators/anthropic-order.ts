import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { SentMessage } from "./anthropic-messages.ts";
import { checkUnique, word } from "./check.ts";
import type { Violations } from "./check.ts";

function ofType(blocks: readonly JsonObject[], type: string): readonly JsonObject[] {
  return blocks.filter((block) => block["type"] === type);
}

function isThought(block: JsonObject | undefined): boolean {
  return block?.["type"] === "thinking" || block?.["type"] === "redacted_thinking";
}

/** Blocks that the vendor itself puts before the thinking of a turn. */
function isNote(block: JsonObject): boolean {
  return block["type"] === "compaction" || block["type"] === "fallback";
}

/** Each call is answered once, in the next message, before any other block. */
export function checkCalls(
  found: Violations,
  messages: readonly SentMessage[],
  hasTools: boolean,
): void {
  const ids = new Set<string>();
  let open = new Set<string>();
  let called = false;
  for (const { role, blocks, path } of messages) {
    let others = false;
    for (const block of blocks) {
      if (block["type"] !== "tool_result") {
        others = true;
        continue;
      }
      called = true;
      const id = word(block["tool_use_id"]);
      if (others) found.add(path, `the result of ${id} stands behind other content`);
      if (!open.delete(id)) found.add(path, `a result without its call before it: ${id}`);
    }
    if (open.size > 0) found.add(path, `no result right behind ${[...open].join(", ")}`);
    open = new Set();
    for (const block of ofType(blocks, "tool_use")) {
      called = true;
      const id = word(block["id"]);
      checkUnique(found, ids, id, path);
      if (role === "assistant") open.add(id);
    }
  }
  if (open.size > 0) found.add("$.messages", `no result for ${[...open].join(", ")}`);
  if (called && !hasTools) found.add("$.tools", "missing, though there are calls");
}

/** Server tools: their results stand with them, and never alone. */
export function checkServerTools(found: Violations, messages: readonly SentMessage[]): void {
  const used = new Set<string>();
  const pending = new Set<string>();
  for (const [at, { role, blocks, path }] of messages.entries()) {
    for (const block of blocks) {
      const type = word(block["type"]);
      if (type === "server_tool_use" || type === "mcp_tool_use") {
        checkUnique(found, used, word(block["id"]), path);
        pending.add(word(block["id"]));
      } else if (type.endsWith("_tool_result")) {
        const id = word(block["tool_use_id"]);
        if (!pending.delete(id)) found.add(path, `a ${type} without its use before it: ${id}`);
      }
    }
    const callers = ofType(blocks, "tool_use").map(({ caller }) =>
      isJsonObject(caller) ? caller["tool_id"] : undefined,
    );
    // A paused turn continues where it was, and a server tool that called a client tool is answered
    // before it continues.
    if (role === "user" || at === messages.length - 1) continue;
    for (const id of pending) {
      if (callers.includes(id)) continue;
      found.add(path, `a tool of the vendor without its result: ${id}`);
      pending.delete(id);
    }
  }
}

/** Where thinking may stand, and whether the current tool loop requires it. */
export function checkThinking(
  found: Violations,
  messages: readonly SentMessage[],
  mode: string,
): void {
  for (const { blocks, path } of messages) {
    if (isThought(blocks.at(-1))) found.add(path, "the final block is thinking");
    const firstCall = blocks.findIndex(({ type }) => type === "tool_use");
    if (firstCall >= 0 && blocks.slice(firstCall).some(isThought)) {
      found.add(path, "thinking behind a tool_use");
    }
  }
  const loop = runningLoop(messages);
  const first = loop[0]?.blocks.find((block) => !isNote(block));
  if (mode === "enabled" && first !== undefined && !isThought(first)) {
    found.add("$.messages", "the running turn does not start with thinking, which is enabled");
  }
  if (mode !== "disabled") return;
  for (const { blocks, path } of loop) {
    if (blocks.some(isThought)) found.add(path, "thinking in the running turn is disabled");
  }
}

/** The assistant's messages since the last user input, if the tool loop still runs. */
function runningLoop(messages: readonly SentMessage[]): readonly SentMessage[] {
  const isResults = ({ blocks }: SentMessage): boolean => ofType(blocks, "tool_result").length > 0;
  const last = messages.at(-1);
  if (last === undefined || (last.role === "user" && !isResults(last))) return [];
  const start = messages.findLastIndex((message) => message.role === "user" && !isResults(message));
  return messages.slice(start + 1).filter(({ role }) => role === "assistant");
}
