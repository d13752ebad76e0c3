import { textAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import { pathOf } from "./betas.ts";
import { compactionBlock, isEffortOnly, isServerResult, isThinking, typeOf } from "./body.ts";
import type { ClaudeBody, ClaudeMessage } from "./body.ts";

/** Checks how messages begin, end and answer each other. */
export function checkTurns(body: ClaudeBody): void {
  const { messages } = body;
  if (messages.length === 0) refuse("messages: at least one message is required");
  for (const message of messages) {
    if (message.blocks.length === 0 && message.role !== "system") {
      refuse(
        `${pathOf(message)}: all messages must have non-empty content except for the optional final assistant message`,
      );
    }
  }
  const first = messages.find((message) => !isEffortOnly(message));
  if (first?.role === "assistant" && compactionBlock(body) === undefined) {
    refuse('messages: first message must use the "user" role');
  }
  checkPairs(messages);
  for (const message of messages) {
    if (message.role !== "assistant" || !isThinking(message.blocks.at(-1))) continue;
    refuse(`${pathOf(message)}: The final block in an assistant message cannot be \`thinking\`.`);
  }
  if (body.fields["compaction"] === undefined) checkLast(messages);
}

/** Each call is answered in the message behind it, before any other content. */
function checkPairs(messages: readonly ClaudeMessage[]): void {
  const used = new Set<string>();
  // A change of the effort may stand anywhere, also between a call and its result.
  const turns = messages.filter((message) => !isEffortOnly(message));
  let open: readonly string[] = [];
  let caller: ClaudeMessage | undefined;
  const checkOpen = (): void => {
    if (open.length === 0 || caller === undefined) return;
    refuse(
      `${pathOf(caller)}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
    );
  };
  for (const message of turns) {
    for (const [at, block] of message.blocks.entries()) {
      if (typeOf(block) === "tool_result") {
        const id = textAt(block, "tool_use_id") ?? "";
        if (!open.includes(id)) {
          refuse(
            `${pathOf(message, at)}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
          );
        }
        open = open.filter((other) => other !== id);
        continue;
      }
      if (message.role !== "assistant") checkOpen();
      if (typeOf(block) !== "tool_use") continue;
      const id = textAt(block, "id") ?? "";
      if (used.has(id)) refuse("messages: `tool_use` ids must be unique");
      used.add(id);
      open = [...open, id];
      caller = message;
    }
  }
  checkOpen();
}

/** A request ends with the user, with the application, or with a turn that the vendor paused. */
function checkLast(messages: readonly ClaudeMessage[]): void {
  const last = messages.findLast((message) => !isEffortOnly(message));
  if (last?.role !== "assistant") return;
  const final = last.blocks.at(-1);
  if (isServerResult(final) || typeOf(final).endsWith("_tool_use")) return;
  refuse(
    "This model does not support assistant message prefill. The conversation must end with a user message.",
  );
}
