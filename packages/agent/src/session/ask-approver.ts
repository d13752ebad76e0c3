import type { Actor, Inbox } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import type { AskMode } from "../definition/tool-host.ts";

/**
 * Answers an approval request by the `ask` option of its run, or of the session. With `wait` it does
 * nothing: a person answers through the inbox. A function that throws, or returns anything but `allow`,
 * denies. The decision of a function is the person's for whom the prompt was sent.
 */
export async function askApprover(
  inbox: Inbox,
  ask: AskMode,
  { approvalId, callId, tool, input, parsed, hash }: FactOf<"approval_requested">,
  actor: Actor | undefined,
): Promise<void> {
  if (ask === "wait") return;
  if (ask === "deny") {
    await inbox.deny(approvalId, { reason: "there is nobody to ask" });
    return;
  }
  let decision: unknown;
  try {
    const changed = parsed === undefined ? {} : { parsed };
    decision = await ask({ id: approvalId, callId, tool, input, ...changed, hash });
  } catch {
    decision = "deny";
  }
  if (decision === "allow") await inbox.allow(approvalId, { hash, actor });
  else await inbox.deny(approvalId, { actor });
}
