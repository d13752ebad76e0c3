import type { CallId, SessionState } from "@millrace/core";
import { answerInputIdOf } from "@millrace/core/writing";

/**
 * Whether a run stands still until a person or a client answers: a question is open or a client's tool is
 * called, and nothing else is under way or about to begin. A reader whose requests carry the answers is
 * then sent the end of its stream.
 */
export function isWaiting(state: SessionState): boolean {
  const { run, lanes, executions, queue, approvals, compacting } = state;
  const { turn } = run ?? {};
  if (run === undefined || run.aborting || lanes.length > 0 || compacting) return false;
  if (turn?.reply === undefined || turn.stop !== undefined) return false;
  const answered = new Set(queue.map(({ inputId }) => inputId));
  // An answer that waits in the queue is taken up next.
  const isAwaited = ({ client, itemId }: (typeof executions)[number]): boolean =>
    client === true && !answered.has(answerInputIdOf(itemId));
  const open = openCalls(state, turn.reply);
  // One whose result is stored is settled by the fact that follows it, and then the run goes on.
  if (!executions.every((each) => isAwaited(each) && open.includes(each.callId))) return false;
  const started = new Set(executions.map(({ callId }) => callId));
  const isAsked = (callId: CallId): boolean =>
    approvals.findLast(({ asked }) => asked.callId === callId && asked.turnId === turn.turnId)
      ?.answer === undefined;
  const questions = new Set(
    approvals.filter(({ answer }) => answer === undefined).map(({ asked }) => asked.callId),
  );
  // Beside a client's call others may have to wait for their turn; those that were allowed begin at once.
  if (started.size > 0) return open.every((callId) => started.has(callId) || isAsked(callId));
  return open.length > 0 && open.every((callId) => questions.has(callId));
}

/** The calls of a reply that have no result. */
function openCalls({ items }: SessionState, reply: string): readonly CallId[] {
  const all = items.toArray();
  const at = all.findLastIndex(({ id }) => id === reply);
  const settled = new Set<CallId>();
  for (const { parts } of all.slice(at))
    for (const part of parts) if (part.kind === "tool_result") settled.add(part.callId);
  return (all[at]?.parts ?? []).flatMap((part) =>
    part.kind === "tool_call" && !settled.has(part.callId) ? [part.callId] : [],
  );
}
