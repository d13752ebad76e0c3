import type { WholeStop } from "@millrace/core/writing";
import type { FailureCode } from "../../failure.ts";

/** The meaning of a `finishReason`. */
export type GeminiStop =
  | { readonly stop: WholeStop }
  | { readonly failed: FailureCode; readonly message: string };

const filtered: GeminiStop = { stop: "filtered" };
const malformed: GeminiStop = {
  failed: "malformed_call",
  message: "the model wrote a call that the vendor could not read",
};
const notExpected: GeminiStop = {
  failed: "malformed_call",
  message: "the model called a tool where it may not",
};
const unknown: GeminiStop = {
  failed: "unknown_stop",
  message: "the model stopped for a reason that says nothing about the reply",
};

const verdicts: Readonly<Record<string, GeminiStop>> = {
  STOP: { stop: "end" },
  MAX_TOKENS: { stop: "length" },
  CONTINUATION: { stop: "paused" },
  SAFETY: filtered,
  RECITATION: filtered,
  LANGUAGE: filtered,
  BLOCKLIST: filtered,
  PROHIBITED_CONTENT: filtered,
  SPII: filtered,
  MODEL_ARMOR: filtered,
  IMAGE_SAFETY: filtered,
  IMAGE_PROHIBITED_CONTENT: filtered,
  IMAGE_RECITATION: filtered,
  IMAGE_OTHER: filtered,
  MALFORMED_FUNCTION_CALL: malformed,
  UNEXPECTED_TOOL_CALL: notExpected,
  TOO_MANY_TOOL_CALLS: notExpected,
  MALFORMED_RESPONSE: {
    failed: "server_error",
    message: "the vendor could not read its own reply",
  },
  MISSING_THOUGHT_SIGNATURE: {
    failed: "bad_request",
    message: "the request lacks a thought signature",
  },
};

/** An unknown reason proves nothing, so it is a failure. */
export function verdictOf(reason: string): GeminiStop {
  return Object.hasOwn(verdicts, reason) ? (verdicts[reason] ?? unknown) : unknown;
}
