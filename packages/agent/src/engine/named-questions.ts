import type { ApprovalId, ItemId } from "@millrace/core";
import type { BriefRun, BriefStanding } from "../loop/brief.ts";
import type { Outline } from "../loop/outline.ts";
import type { ApprovalStanding, CallVerdict, Standing } from "../loop/state.ts";
import type { Stepped, StepMemory } from "./step.ts";

/** In place of the hash of an input that no question is about yet, and of an answer about another input. */
const noQuestion = "";

/** The questions of a session that an answer may name. */
interface Questions {
  /** The hash that each question is about. */
  readonly hashes: ReadonlyMap<ApprovalId, string>;
  /** The latest question of each call of the current reply. */
  readonly ofCalls: ReadonlyMap<ItemId, ApprovalStanding>;
}

/**
 * The answer with the id of a question wherever it has the hash that the question is about. An engine only compares
 * hashes, so it decides the same; and short inputs can't be found by hashing all there are.
 */
export function withNamedQuestions(answer: Stepped, standing: Standing): Stepped {
  const { outlines, standing: brief, memory } = answer;
  const questions = questionsIn(standing, outlines ?? []);
  return {
    ...answer,
    ...(outlines && { outlines: outlines.map((fact) => namedOutline(fact, questions)) }),
    ...(brief && { standing: namedStanding(brief) }),
    memory: namedMemory(memory, questions),
  };
}

function questionsIn({ run }: Standing, outlines: readonly Outline[]): Questions {
  const known = (run?.turn?.reply?.calls ?? []).flatMap(({ itemId, approval }) =>
    approval === undefined ? [] : [[itemId, approval] as const],
  );
  const asked = outlines.filter((fact) => fact.type === "approval_requested");
  return {
    hashes: new Map(
      [...known.map(([, approval]) => approval), ...asked].map((each) => [
        each.approvalId,
        each.hash,
      ]),
    ),
    ofCalls: new Map(known),
  };
}

function namedOutline(fact: Outline, { hashes }: Questions): Outline {
  if (fact.type === "approval_requested") return { ...fact, hash: fact.approvalId };
  if (fact.type !== "approval_resolved" || fact.hash === undefined) return fact;
  const isSame = hashes.get(fact.approvalId) === fact.hash;
  return { ...fact, hash: isSame ? fact.approvalId : noQuestion };
}

function namedMemory({ verdicts, ...memory }: StepMemory, { ofCalls }: Questions): StepMemory {
  const named = verdicts?.map(([itemId, verdict]) => {
    const approval = ofCalls.get(itemId);
    return [itemId, namedVerdict(verdict, approval)] as const;
  });
  return { ...memory, ...(named && { verdicts: named }) };
}

function namedVerdict(verdict: CallVerdict, approval: ApprovalStanding | undefined): CallVerdict {
  if (verdict.decision !== "ask") return verdict;
  const isAsked = approval?.hash === verdict.hash;
  return { ...verdict, hash: isAsked ? approval.approvalId : noQuestion };
}

function namedStanding({ run, ...standing }: BriefStanding): BriefStanding {
  return { ...standing, ...(run && { run: namedRun(run) }) };
}

function namedRun({ turn, ...run }: BriefRun): BriefRun {
  const calls = turn?.reply?.calls?.map((call) => {
    const { approval } = call;
    return approval ? { ...call, approval: { ...approval, hash: approval.approvalId } } : call;
  });
  if (turn?.reply === undefined) return { ...run, ...(turn && { turn }) };
  return { ...run, turn: { ...turn, reply: { ...turn.reply, ...(calls && { calls }) } } };
}
