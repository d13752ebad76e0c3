import type { SessionRecord } from "@millrace/core/ports";
import { callIdOf } from "./encode/call-names.ts";
import { inboxOf, Problem, problemOf } from "@millrace/server/dialect";
import type { RouteContext } from "@millrace/server/dialect";
import type { PageAnswer } from "./page-answer.ts";
import type { SessionRuns } from "./session-runs.ts";

/**
 * Stores what a page answers, once each. What is decided or answered already is left as it is: the page sends
 * all that it holds with each request, and another person may have been first. True if something was new.
 */
export async function postAnswers(
  context: RouteContext,
  session: SessionRecord,
  { state }: SessionRuns,
  pageAnswers: readonly PageAnswer[],
): Promise<boolean> {
  const open = pageAnswers.filter((reply) => isOpen(state, reply));
  if (open.length === 0) return false;
  if ((await context.open(session.sessionId, "decide")) === undefined)
    throw new Problem("forbidden", "you may send to this session, but not decide");
  const inbox = inboxOf(context, session);
  for (const reply of open) {
    if (reply.kind === "decision") {
      const { approvalId, approved, reason } = reply;
      const decide = approved ? inbox.allow : inbox.deny;
      const decided = await decide(approvalId, { reason });
      if (decided.accepted) context.runs.wake(session, decided.n);
      else if (decided.reason !== "settled") throw problemOf(decided);
      continue;
    }
    const call = clientCallOf(state, reply.toolCallId);
    if (call === undefined) continue;
    const posted = await inbox.answer({ callId: call.callId }, reply.answer);
    if (posted.accepted) context.runs.wake(session, posted.n);
    else if (posted.reason !== "settled") throw problemOf(posted);
  }
  return true;
}

function isOpen(state: SessionRuns["state"], reply: PageAnswer): boolean {
  if (reply.kind === "output") return clientCallOf(state, reply.toolCallId) !== undefined;
  return state.approvals.some(
    ({ asked, answer }) => asked.approvalId === reply.approvalId && answer === undefined,
  );
}

/** The call of a page's tool that waits under this name: its id, or its id and a number. */
function clientCallOf(
  { executions }: SessionRuns["state"],
  name: string,
): SessionRuns["state"]["executions"][number] | undefined {
  return executions.find(
    ({ client, callId }) => client === true && (callId === name || callId === callIdOf(name)),
  );
}
