import type { Json, JsonObject } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import { callOfName } from "./encode/response-id.ts";
import type { LegRef } from "./encode/response-id.ts";
import type { Reply } from "../shared/reply.ts";
import { messageParts, valueOf } from "./input.ts";
import type { SentInput, SentPart } from "./input.ts";
import { refused } from "./refused.ts";

/** What is new in the messages of a completion. */
export interface NewMessages extends SentInput {
  /** The leg whose calls are answered. It names the session, too. */
  readonly leg: LegRef | undefined;
  /** Whether there are messages before them. */
  readonly hasPast: boolean;
}

/** The messages after the last one of the assistant: the past is in the store. */
export function newMessages(messages: readonly JsonObject[]): NewMessages {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const parts: SentPart[] = [];
  const replies: Reply[] = [];
  let leg: LegRef | undefined;
  for (const [at, message] of messages.entries()) {
    const pointer = `/messages/${at}`;
    const { role } = message;
    if (role === "system" || role === "developer")
      throw refused("the agent has its own instructions: send no message of this role", pointer);
    if (at <= last) continue;
    if (role !== "tool") {
      parts.push(...messageParts(message, pointer));
      continue;
    }
    const answered = toolReply(message, pointer);
    if (leg !== undefined && !isSame(leg, answered.leg))
      throw refused("the tool messages answer calls of different completions", pointer);
    ({ leg } = answered);
    replies.push(answered.reply);
  }
  if (parts.length === 0 && replies.length === 0)
    throw refused("the last message is the assistant's: send what is new", `/messages/${last}`);
  return { parts, replies, leg, hasPast: last >= 0 };
}

function toolReply(
  { tool_call_id: id, content }: JsonObject,
  pointer: string,
): { readonly leg: LegRef; readonly reply: Reply } {
  const call = typeof id === "string" ? callOfName(id) : undefined;
  if (call === undefined) throw refused("tool_call_id is not one that was sent", pointer);
  const { callId: toolCallId, ...leg } = call;
  const output = valueOf(textOf(content, pointer));
  return { leg, reply: { kind: "output", toolCallId, answer: { output } } };
}

function textOf(content: Json | undefined, pointer: string): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? (content as readonly Json[]) : [undefined];
  return parts
    .map((part) => {
      const text = isJsonObject(part) ? part["text"] : undefined;
      if (typeof text === "string") return text;
      throw refused("a tool of yours answers with text", `${pointer}/content`);
    })
    .join("");
}

function isSame(left: LegRef, right: LegRef): boolean {
  return (
    left.sessionId === right.sessionId && left.runId === right.runId && left.from === right.from
  );
}
