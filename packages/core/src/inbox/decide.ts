import type { FactOf } from "../event/event.ts";
import { approvalId } from "../ids.ts";
import type { Checked, InboxContext } from "./inbox-context.ts";
import { checkedJson } from "./inbox-context.ts";
import { refuse } from "./posted.ts";
import type { Decided, Refused } from "./posted.ts";

interface Decision {
  readonly id: string;
  readonly decision: "allow" | "deny";
  readonly reason?: string | undefined;
  readonly hash?: string | undefined;
  readonly by: Checked["by"];
}

/** Answers a question, once. */
export async function decide(
  { poster, known }: InboxContext,
  asked: Decision,
): Promise<Decided | Refused> {
  const { decision, reason, hash, by } = asked;
  const id = approvalId(asked.id);
  await known.catchUp();
  if (!known.questions.has(id)) await known.readPast();
  const first = known.questions.get(id);
  if (first !== undefined) return again(first, decision);
  const question = known.state.approvals.find((one) => one.asked.approvalId === id)?.asked;
  if (question === undefined) {
    return known.questions.has(id)
      ? refuse("settled", `the run that asked the question ${id} is over`)
      : refuse("unknown", `no question ${id} was asked`);
  }
  if (hash !== undefined && hash !== question.hash) {
    return refuse(
      "hash_mismatch",
      `the question ${id} is about something else than was shown: show it again`,
    );
  }
  const why = reason === undefined ? {} : { reason: checkedJson(reason, "a reason") };
  // The key names this asking: after a reset the same question may be asked under the same id.
  const posted = await poster.post(`decide_${question.n}`, {
    type: "approval_resolved",
    approvalId: id,
    callId: question.callId,
    decision,
    ...why,
    hash: question.hash,
    ...by,
  });
  if (posted.accepted) return decided(posted.fact, posted.replayed);
  if (posted.reason === "failed" || posted.reason === "invalid") return posted;
  await known.catchUp(); // another decision was stored at the same time, or the run ended
  const other = known.questions.get(id);
  return other === undefined
    ? refuse("settled", `the run that asked the question ${id} is over`)
    : again(other, decision);
}

function again(first: FactOf<"approval_resolved">, decision: "allow" | "deny"): Decided | Refused {
  if (first.decision === decision) return decided(first, true);
  return refuse("settled", `the question ${first.approvalId} was answered with ${first.decision}`);
}

function decided(fact: FactOf<"approval_resolved">, replayed: boolean): Decided {
  const { approvalId, decision, n, actor } = fact;
  const by = actor === undefined ? {} : { actor };
  return { accepted: true, approvalId, decision, ...by, n, replayed };
}
