import { MillraceError } from "../errors.ts";
import type { Input } from "../event/event.ts";
import { callId, itemId } from "../ids.ts";
import { checkedJson } from "./inbox-context.ts";
import type { Checked, InboxContext } from "./inbox-context.ts";
import { answerInputIdOf } from "./ids.ts";
import type { IndexedCall } from "./inbox-state.ts";
import type { AnsweredCall, CallAnswer } from "./inbox.ts";
import { refuse } from "./posted.ts";
import type { Posted, Refused } from "./posted.ts";

/** Answers a call, once. Vendors use call ids again, so the item that holds the call may be named. */
export async function answerCall(
  context: InboxContext,
  asked: AnsweredCall,
  answer: CallAnswer,
  by: Checked["by"],
): Promise<Posted | Refused> {
  const { poster, known } = context;
  const called = callId(asked.callId);
  const holder = asked.itemId === undefined ? undefined : itemId(asked.itemId);
  const input = inputOf(called, answer);
  await known.catchUp();
  const latest = known.findCall(called, holder);
  if (latest === undefined || !known.isOpen(latest)) await known.readPast();
  const call = known.findCall(called, holder);
  if (call === undefined) {
    const where = holder === undefined ? "" : ` in the item ${holder}`;
    return refuse("unknown", `there is no call ${called}${where}`);
  }
  const id = answerInputIdOf(call.answer);
  // What is over takes no new answer. A repeat of the one that it has is compared by the store.
  if (!known.isOpen(call) && !known.inputs.has(id)) {
    return refuse("settled", `the call ${called} is over`);
  }
  const reason = known.inputs.has(id) ? undefined : await whyNotYours(context, call);
  if (reason !== undefined) return refuse("invalid", `the call ${called} ${reason}`);
  const posted = await poster.post(id, { type: "input_accepted", inputId: id, input, ...by });
  if (posted.accepted) {
    return { accepted: true, inputId: id, n: posted.fact.n, replayed: posted.replayed };
  }
  if (posted.reason !== "key_reused") return posted;
  return refuse("settled", `the call ${called} has another answer already`);
}

/** Why a client has nothing to answer, for a call that is open. Undefined: it has, or will have. */
async function whyNotYours(
  { known, clientTools }: InboxContext,
  { callId: called, tool }: IndexedCall,
): Promise<string | undefined> {
  const { approvals, executions } = known.state;
  if (approvals.some(({ asked, answer }) => asked.callId === called && answer === undefined))
    return "waits for a decision: answer it once it is allowed";
  const begun = executions.find((execution) => execution.callId === called);
  const isClients =
    begun === undefined ? (await clientTools?.())?.has(tool) !== false : begun.client === true;
  return isClients ? undefined : "is carried out by the agent's own process: it takes no answer";
}

function inputOf(called: Extract<Input, { kind: "answer" }>["callId"], answer: CallAnswer): Input {
  const given = { kind: "answer", callId: called } as const;
  if ("output" in answer === "error" in answer) {
    throw new MillraceError("invalid_event", "an answer has either an output or an error");
  }
  return "output" in answer
    ? { ...given, output: checkedJson(answer.output, "the output") }
    : { ...given, error: checkedJson(answer.error, "the error") };
}
