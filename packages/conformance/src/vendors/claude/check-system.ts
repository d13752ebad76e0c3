import { textAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import { betas, pathOf } from "./betas.ts";
import { isEffortOnly, isServerResult } from "./body.ts";
import type { ClaudeBody, ClaudeMessage } from "./body.ts";
import { checkFields } from "./check-blocks.ts";
import { checkOutput } from "./check-request.ts";
import { takesEffortMessages, takesSystemMessages } from "./models.ts";

/** Checks the fields of a message beside its content. */
export function checkMessageFields(body: ClaudeBody, message: ClaudeMessage): void {
  const { role, fields } = message;
  const path = pathOf(message);
  if (role !== "user" && role !== "assistant" && role !== "system") {
    refuse(`${path}.role: Input should be 'user', 'assistant' or 'system'`);
  }
  const allowed = [
    "role content",
    ...(body.betas.has(betas.clearAt) ? ["clear_at?"] : []),
    ...(role === "system" && body.betas.has(betas.effort) ? ["output_config?"] : []),
  ].join(" ");
  checkFields(fields, allowed, path);
  if (Object.hasOwn(fields, "clear_at")) checkClearAt(message);
  if (role !== "system") return;
  if (!takesSystemMessages(body.model)) {
    refuse(`${path}: role 'system' is not supported on this model`);
  }
  if (!Object.hasOwn(fields, "output_config")) {
    if (message.blocks.length > 0) return;
    refuse(`${path}: system content must contain at least one block`);
  }
  if (!takesEffortMessages(body.model)) {
    refuse(
      "output_config.effort requires a model that supports per-turn effort; this model does not",
    );
  }
  const config = fields["output_config"] as Parameters<typeof checkOutput>[0];
  checkOutput(config, `${path}.output_config`, "effort?");
}

function checkClearAt(message: ClaudeMessage): void {
  const { role, fields, blocks, isTurnScoped } = message;
  const path = pathOf(message);
  const value = textAt(fields, "clear_at");
  if (role !== "system") {
    refuse(`${path}.clear_at: clear_at is only permitted on role 'system' messages`);
  }
  if (value !== "next_user_message" && value !== "never") {
    refuse(`${path}.clear_at: Input should be 'next_user_message' or 'never'`);
  }
  if (!isTurnScoped) return;
  const scope = "turn-scoped system message";
  const setting = "(clear_at: 'next_user_message')";
  if (blocks.some(({ type }) => type !== "text")) {
    refuse(`${path}: a ${scope} supports text blocks only ${setting}`);
  }
  if (Object.hasOwn(fields, "output_config")) {
    refuse(`${path}: output_config is not permitted on a ${scope} ${setting}`);
  }
  const marked = blocks.findIndex((block) => Object.hasOwn(block, "cache_control"));
  if (marked >= 0) {
    refuse(`${pathOf(message, marked)}: cache_control is not permitted on a ${scope} ${setting}`);
  }
}

const anywhere = `; the directive-only form (content: [] with output_config) is accepted at any position`;

/** Checks where system messages stand. Those in a row are judged as one. */
export function checkSystemPlaces({ messages }: ClaudeBody): void {
  for (let first = 0; first < messages.length; first++) {
    if (messages[first]?.role !== "system") continue;
    let last = first;
    while (messages[last + 1]?.role === "system") last += 1;
    const group = messages.slice(first, last + 1);
    if (!group.every(isEffortOnly)) checkGroup(group, messages[first - 1], messages[last + 1]);
    first = last;
  }
}

function checkGroup(
  group: readonly ClaudeMessage[],
  before: ClaudeMessage | undefined,
  after: ClaudeMessage | undefined,
): void {
  const [first, last] = [group[0]?.at ?? 0, group.at(-1)?.at ?? 0];
  if (before === undefined) {
    refuse(
      `messages.${first}: use the top-level 'system' parameter for the initial system prompt${anywhere}`,
    );
  }
  const isPaused = before.role === "assistant" && isServerResult(before.blocks.at(-1));
  if (before.role !== "user" && !isPaused) {
    refuse(
      `messages.${first}: role 'system' must follow a 'user' message or an 'assistant' message ending in a server tool result${anywhere}`,
    );
  }
  if (after !== undefined && after.role !== "assistant") {
    refuse(
      `messages.${last}: role 'system' must precede an 'assistant' message or end the array${anywhere}`,
    );
  }
  const changed = group.find(({ blocks }) => blocks.some(({ type }) => type !== "text"));
  if (isPaused && changed !== undefined) {
    refuse(
      `${pathOf(changed)}: tool_addition and tool_removal blocks are not accepted immediately after a paused assistant turn`,
    );
  }
}
