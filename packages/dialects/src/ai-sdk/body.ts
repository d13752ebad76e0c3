import type { Json, JsonObject } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import { Problem } from "@millrace/server/dialect";
import type { PageAnswer } from "../shared/page-answer.ts";

/** A message as a page sends it, of the shape that the route checks. */
export interface SentMessage {
  readonly id: string;
  readonly role: "user" | "assistant" | "system";
  readonly metadata?: Json;
  readonly parts: readonly JsonObject[];
}

/** The body of `DefaultChatTransport`, and what a page may add to it. */
export interface SendBody {
  readonly id: string;
  readonly messages: readonly SentMessage[];
  readonly trigger?: "submit-message" | "regenerate-message";
  readonly messageId?: string;
  /** `steer` and `follow_up` are for the run that is on. */
  readonly kind?: "prompt" | "steer" | "follow_up";
}

/**
 * What the last message of the assistant answers. It is all that is read of what a page holds of the past:
 * the past is in the store.
 */
export function pageAnswersOf(messages: readonly SentMessage[]): readonly PageAnswer[] {
  const last = messages.findLast(({ role }) => role === "assistant");
  return (last?.parts ?? []).flatMap((part): PageAnswer[] => {
    const { type, toolCallId, approval, state, output, errorText } = part;
    const isCall = typeof type === "string" && /^(tool-|dynamic-tool$)/.test(type);
    if (!isCall || typeof toolCallId !== "string") return [];
    const pageAnswers: PageAnswer[] = [];
    if (isJsonObject(approval) && typeof approval["approved"] === "boolean") {
      const { id, approved, reason } = approval;
      const why = typeof reason === "string" ? reason : undefined;
      if (typeof id === "string")
        pageAnswers.push({ kind: "decision", approvalId: id, approved, reason: why });
    }
    if (state === "output-available")
      pageAnswers.push({ kind: "output", toolCallId, answer: { output: output ?? null } });
    if (state === "output-error") {
      const error = typeof errorText === "string" ? errorText : "It failed.";
      pageAnswers.push({ kind: "output", toolCallId, answer: { error } });
    }
    return pageAnswers;
  });
}

/** The last message, if a person wrote it. */
export function promptOf(messages: readonly SentMessage[]): SentMessage | undefined {
  const last = messages.at(-1);
  if (last?.role === "system") {
    const detail = "the instructions are the server's: send no message with the role system";
    throw new Problem("invalid_request", detail, { pointer: `/messages/${messages.length - 1}` });
  }
  return last?.role === "user" ? last : undefined;
}
