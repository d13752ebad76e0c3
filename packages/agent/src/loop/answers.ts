import { abortedCause } from "@millrace/core/model";
import type { InputId, Item, RunId, SessionState, ToolResultPart } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import type { ActionOf, Answer } from "./action.ts";
import type { FactContext } from "./fact-context.ts";
import { answerInputIdOf, partIdOf } from "./ids.ts";
import type { CallStanding, TurnStanding } from "./state.ts";

/**
 * The facts of a `settle` action: one result for each call, and a settlement for each call that was
 * started. Skips calls that have a result by now. Undefined if all have one: nothing is to be stored.
 */
export function answerFacts(
  { answers }: ActionOf<"settle">,
  { runId, turn }: { readonly runId: RunId; readonly turn: TurnStanding },
  context: FactContext,
): readonly FactBody[] | undefined {
  const open = answers.filter(({ call }) => isOpen(turn, call));
  if (open.length === 0) return undefined;
  const { turnId } = turn;
  return open.flatMap((answer): FactBody[] => {
    const { call, status } = answer;
    const { callId, tool } = call;
    const head = {
      id: call.itemId,
      author: "tool",
      parts: [resultOf(answer, turn, context)],
    } as const;
    // The client may have begun to work, so its call ends as aborted, like a tool that was stopped.
    const item: Item =
      answer.why === "unanswered"
        ? { ...head, stop: "aborted", cause: abortedCause }
        : { ...head, stop: "end" };
    const settled: FactBody[] =
      call.started === undefined
        ? []
        : [{ type: "tool_execution_finished", runId, turnId, callId, tool, status }];
    const input = queuedAnswer(context.state, call);
    const taken = input === undefined ? {} : { inputId: input };
    return [{ type: "item_committed", item, runId, turnId, ...taken }, ...settled];
  });
}

function isOpen(turn: TurnStanding, call: CallStanding): boolean {
  return (
    turn.reply?.calls.some(({ itemId, settled }) => itemId === call.itemId && !settled) === true
  );
}

/** The queued answer of a client to this call. It leaves the queue with the call, also after a stop. */
function queuedAnswer({ queue }: SessionState, { itemId }: CallStanding): InputId | undefined {
  const answer = answerInputIdOf(itemId);
  return queue.some(({ inputId }) => inputId === answer) ? answer : undefined;
}

function resultOf(answer: Answer, turn: TurnStanding, context: FactContext): ToolResultPart {
  const { call, status } = answer;
  const { callId, tool, itemId } = call;
  const head = { kind: "tool_result", id: partIdOf(itemId, 1), callId, tool } as const;
  const given = answer.why === "answered" ? context.answers(itemId) : undefined;
  if (given !== undefined) return { ...head, ...given };
  const text = messageOf(answer, turn, context);
  return { ...head, status, text, ...(answer.why === "unanswered" ? {} : { synthetic: true }) };
}

function messageOf({ call, why }: Answer, turn: TurnStanding, context: FactContext): string {
  switch (why) {
    case "refused":
      return context.refusals(call.itemId) ?? "not run: it was refused";
    case "denied": {
      const reason = denialReason(context.state, call);
      return `a person denied this call${reason === undefined ? "" : `: ${reason}`}`;
    }
    case "expired":
      return "nobody answered in time whether this call may run";
    case "lost":
      return "this call was started, and the process that ran it ended before the outcome was known. It may have taken effect or not: find out before you ask for it again";
    case "stopped":
      return "the run was stopped before this call was run";
    case "unanswered":
      return "the run was stopped before a client answered this call";
    case "reply_not_whole":
      return `not run: the reply that asks for it ended as ${turn.reply?.stop ?? "failed"}`;
    case "answered":
      return "a client answered this call, and the answer could not be read";
    default:
      why satisfies never;
      return "not run";
  }
}

function denialReason({ approvals }: SessionState, { approval }: CallStanding): string | undefined {
  return approvals.find(({ asked }) => asked.approvalId === approval?.approvalId)?.answer?.reason;
}
