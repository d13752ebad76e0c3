import { isJsonObject } from "@millrace/core/wire";
import type { JsonObject } from "@millrace/core";
import type { Spoken } from "./anthropic-messages.ts";
import { checkUnique, word } from "./check.ts";
import type { Violations } from "./check.ts";

function ofType(blocks: readonly JsonObject[], type: string): readonly JsonObject[] {
  return blocks.filter((block) => block["type"] === type);
}

function isThought(block: JsonObject | undefined): boolean {
  return block?.["type"] === "thinking" || block?.["type"] === "redacted_thinking";
}

/** What the vendor itself puts before the thinking that a turn starts with. */
function isNote(block: JsonObject): boolean {
  return block["type"] === "compaction" || block["type"] === "fallback";
}

/** Each call is answered once, in the next message, before anything else in it. */
export function checkCalls(
  found: Violations,
  messages: readonly Spoken[],
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

/** Tools that the vendor runs: their results stand with them, and never alone. */
export function checkServerTools(found: Violations, messages: readonly Spoken[]): void {
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
    // A paused turn goes on where it was, and code that called is answered before it goes on.
    if (role === "user" || at === messages.length - 1) continue;
    for (const id of pending) {
      if (callers.includes(id)) continue;
      found.add(path, `a tool of the vendor without its result: ${id}`);
      pending.delete(id);
    }
  }
}

/** Where thoughts may stand, and whether the running loop of tools has to have them. */
export function checkThinking(found: Violations, messages: readonly Spoken[], mode: string): void {
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

/** The assistant's messages since the user last spoke, if it is still in a loop of tools. */
function runningLoop(messages: readonly Spoken[]): readonly Spoken[] {
  const isResults = ({ blocks }: Spoken): boolean => ofType(blocks, "tool_result").length > 0;
  const last = messages.at(-1);
  if (last === undefined || (last.role === "user" && !isResults(last))) return [];
  const start = messages.findLastIndex((message) => message.role === "user" && !isResults(message));
  return messages.slice(start + 1).filter(({ role }) => role === "assistant");
}
