import type { Json, JsonObject } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import { callOfName } from "./encode/response-id.ts";
import type { SegmentRef } from "./encode/response-id.ts";
import type { PageAnswer } from "../shared/page-answer.ts";
import { messageParts, valueOf } from "./input.ts";
import type { SentInput, SentPart } from "./input.ts";
import { refused } from "./refused.ts";

/** What is new in the messages of a completion. */
export interface NewMessages extends SentInput {
  /** The segment whose calls are answered. It names the session, too. */
  readonly segment: SegmentRef | undefined;
  /** Whether there are messages before them. */
  readonly hasPast: boolean;
}

/** The messages after the last one of the assistant: the past is in the store. */
export function newMessages(messages: readonly JsonObject[]): NewMessages {
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const parts: SentPart[] = [];
  const pageAnswers: PageAnswer[] = [];
  let segment: SegmentRef | undefined;
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
    if (segment !== undefined && !isSame(segment, answered.segment))
      throw refused("the tool messages answer calls of different completions", pointer);
    ({ segment } = answered);
    pageAnswers.push(answered.reply);
  }
  if (parts.length === 0 && pageAnswers.length === 0)
    throw refused("the last message is the assistant's: send what is new", `/messages/${last}`);
  return { parts, pageAnswers, segment, hasPast: last >= 0 };
}

function toolReply(
  { tool_call_id: id, content }: JsonObject,
  pointer: string,
): { readonly segment: SegmentRef; readonly reply: PageAnswer } {
  const call = typeof id === "string" ? callOfName(id) : undefined;
  if (call === undefined) throw refused("tool_call_id is not one that was sent", pointer);
  const { callId: toolCallId, ...segment } = call;
  const output = valueOf(textOf(content, pointer));
  return { segment, reply: { kind: "output", toolCallId, answer: { output } } };
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

function isSame(left: SegmentRef, right: SegmentRef): boolean {
  return (
    left.sessionId === right.sessionId && left.runId === right.runId && left.from === right.from
  );
}
