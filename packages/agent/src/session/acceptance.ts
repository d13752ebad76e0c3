import type { Decided, Posted, Refused, Stopped } from "@millrace/core";
import type { Acceptance } from "./input.ts";

/** Converts an answer of the inbox to what senders get: accepted, or the error. */
export async function acceptance(
  answer: Promise<Posted | Decided | Stopped | Refused>,
): Promise<Acceptance> {
  const posted = await answer;
  return posted.accepted ? { accepted: true } : { accepted: false, error: posted.error };
}
