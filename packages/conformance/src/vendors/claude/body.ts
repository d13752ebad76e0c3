import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { objectAt, objectsAt, textAt } from "../json.ts";
import { refuse } from "../refusal.ts";
import { claudeModel } from "./models.ts";
import type { ClaudeModel, Platform } from "./models.ts";

/** One message, with its text as a block. */
export interface ClaudeMessage {
  readonly at: number;
  readonly role: string;
  readonly blocks: readonly JsonObject[];
  /** True for a system message that applies to one turn. */
  readonly isTurnScoped: boolean;
  readonly fields: JsonObject;
}

/** A request of the Messages API, read once for all checks. */
export interface ClaudeBody {
  readonly fields: JsonObject;
  readonly model: ClaudeModel;
  readonly platform: Platform;
  readonly betas: ReadonlySet<string>;
  readonly system: readonly JsonObject[];
  readonly tools: readonly JsonObject[];
  readonly messages: readonly ClaudeMessage[];
  /** The index of the last user message, or -1. */
  readonly lastUser: number;
}

interface Envelope {
  readonly model: string;
  readonly platform: Platform;
  readonly betas: readonly string[];
}

/** Reads the parts that all checks use. */
export function readClaudeBody(
  fields: JsonObject,
  { model, platform, betas }: Envelope,
): ClaudeBody {
  const list = fields["messages"];
  if (!Array.isArray(list)) refuse("messages: Field required");
  const messages = (list as readonly Json[]).map(readMessage);
  return {
    fields,
    model: claudeModel(model),
    platform,
    betas: new Set(betas),
    system: blocksOf(fields["system"], "system"),
    tools: objectsAt(fields, "tools"),
    messages,
    lastUser: messages.findLastIndex(({ role }) => role === "user"),
  };
}

function readMessage(value: Json, at: number): ClaudeMessage {
  if (!isJsonObject(value)) refuse(`messages.${at}: Input should be an object`);
  const role = textAt(value, "role") ?? "";
  return {
    at,
    role,
    blocks: blocksOf(value["content"], `messages.${at}.content`),
    isTurnScoped: role === "system" && value["clear_at"] === "next_user_message",
    fields: value,
  };
}

function blocksOf(content: Json | undefined, path: string): readonly JsonObject[] {
  if (content === undefined) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  if (!Array.isArray(content)) refuse(`${path}: Input should be a valid array`);
  return (content as readonly Json[]).map((block, at) =>
    isJsonObject(block) ? block : refuse(`${path}.${at}: Input should be an object`),
  );
}

export function typeOf(block: JsonObject | undefined): string {
  return textAt(block, "type") ?? "";
}

export function isThinking(block: JsonObject | undefined): boolean {
  return typeOf(block) === "thinking" || typeOf(block) === "redacted_thinking";
}

/** True for the result of a tool that the vendor ran, which stands in the assistant's message. */
export function isServerResult(block: JsonObject | undefined): boolean {
  return typeOf(block).endsWith("_tool_result");
}

/** The block of an earlier summary, which takes the place of the messages it covers. */
export function compactionBlock({ messages }: ClaudeBody): JsonObject | undefined {
  const first = messages[0]?.blocks[0];
  return typeOf(first) === "compaction" ? first : undefined;
}

/** True for a message that changes the effort and has no content. */
export function isEffortOnly({ role, blocks, fields }: ClaudeMessage): boolean {
  return (
    role === "system" && blocks.length === 0 && objectAt(fields, "output_config") !== undefined
  );
}

/** True for a message that the model no longer reads: one for a turn that has ended. */
export function isCleared({ isTurnScoped, at }: ClaudeMessage, { lastUser }: ClaudeBody): boolean {
  return isTurnScoped && at < lastUser;
}
