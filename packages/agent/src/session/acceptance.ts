import type { Decided, Posted, Refused, Stopped } from "@millrace/core";
import type { Acceptance } from "./input.ts";

/** Whether the inbox stored it. */
export async function acceptance(
  answer: Promise<Posted | Decided | Stopped | Refused>,
): Promise<Acceptance> {
  const posted = await answer;
  return posted.accepted ? { accepted: true } : { accepted: false, error: posted.error };
}
