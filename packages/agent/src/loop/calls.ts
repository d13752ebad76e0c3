import { unpackEpoch } from "@millrace/core";
import type { Action, Answer } from "./action.ts";
import type { CallStanding, LoopState, ReplyStanding, Verdict } from "./state.ts";

/**
 * What is to be done about the calls of a reply that have no answer. Nothing: they are all under way,
 * or wait for a person. Calls of a reply that did not end by asking for tools are never run: their
 * arguments may be whole, but the request is not.
 */
export function answerCalls(
  state: LoopState,
  reply: ReplyStanding,
  open: readonly CallStanding[],
): Action | undefined {
  if (reply.stop !== "tools") {
    return settleCalls(state, open, `not run: the reply that asks for it ended as ${reply.stop}`);
  }
  const lost = open.filter((call) => isLost(state, call) && !mayRepeat(state, call));
  if (lost.length > 0) return settle(lost.map(unknownAnswer));
  const idle = open.filter((call) => !state.doing.calls.has(call.itemId));
  const fresh = idle.filter((call) => !state.doing.verdicts.has(call.itemId));
  if (fresh.length > 0) {
    return state.doing.assessing ? undefined : { do: "assess", calls: fresh };
  }
  const refused = idle.flatMap((call) => refusalOf(state, call) ?? []);
  if (refused.length > 0) return settle(refused);
  const questions = idle.flatMap((call) => {
    const verdict = verdictOf(state, call);
    return verdict?.decision === "ask" && !isAsked(call, verdict.hash)
      ? [{ call, hash: verdict.hash }]
      : [];
  });
  if (questions.length > 0) return { do: "ask", questions };
  const ready = idle.filter((call) => mayRun(state, call));
  const calls = fitting(state, ready);
  return calls.length > 0 ? { do: "execute", calls } : undefined;
}

/** Answers calls that will not run any more. One that had been started may have done its work. */
export function settleCalls(
  state: LoopState,
  calls: readonly CallStanding[],
  message: string,
): Action {
  return settle(
    calls.map((call) =>
      isLost(state, call) && mayHaveActed(state, call)
        ? unknownAnswer(call)
        : { call, status: "aborted", message },
    ),
  );
}

function settle(answers: readonly Answer[]): Action {
  return { do: "settle", answers };
}

function unknownAnswer(call: CallStanding): Answer {
  return {
    call,
    status: "unknown",
    message:
      "this call was started, and the process that ran it ended before the outcome was known. It may have taken effect or not: find out before you ask for it again",
  };
}

/** Started by a driver that is gone, and not answered. */
function isLost({ standing, doing }: LoopState, { started, itemId }: CallStanding): boolean {
  if (started === undefined || doing.calls.has(itemId)) return false;
  return unpackEpoch(started).incarnation < standing.incarnation;
}

/** A tool that is not known any more counts as effectful. */
function mayRepeat({ settings }: LoopState, { tool }: CallStanding): boolean {
  const effect = settings.tools[tool]?.effect ?? "effectful";
  return effect !== "effectful";
}

/** What will not be repeated may still have taken effect, unless it never has one. */
function mayHaveActed({ settings }: LoopState, { tool }: CallStanding): boolean {
  return settings.tools[tool]?.effect !== "pure";
}

function verdictOf({ doing }: LoopState, { itemId }: CallStanding): Verdict | undefined {
  return doing.verdicts.get(itemId);
}

/** An answer for a call that will not run: it can't, it may not, or a person said no. */
function refusalOf(state: LoopState, call: CallStanding): Answer | undefined {
  const verdict = verdictOf(state, call);
  if (verdict?.decision === "refuse") {
    return { call, status: verdict.status, message: verdict.message };
  }
  const { approval } = call;
  if (verdict?.decision !== "ask" || approval?.hash !== verdict.hash) return undefined;
  if (approval.answer?.decision === "deny") {
    const { reason } = approval.answer;
    const why = reason === undefined ? "" : `: ${reason}`;
    return { call, status: "denied", message: `a person denied this call${why}` };
  }
  return isExpired(state, approval)
    ? { call, status: "denied", message: "nobody answered in time whether this call may run" }
    : undefined;
}

function isExpired(
  { settings, now }: LoopState,
  { askedAt, answer }: NonNullable<CallStanding["approval"]>,
): boolean {
  const { approvalSeconds } = settings;
  if (approvalSeconds === undefined) return false;
  // An answer may be stored while nobody drives the session: it must have come in time all the same.
  return (answer?.at ?? now) >= askedAt + approvalSeconds * 1_000;
}

/** Asked about exactly this. A question about something else is void, however it was answered. */
function isAsked({ approval }: CallStanding, hash: string): boolean {
  return approval?.hash === hash;
}

function mayRun(state: LoopState, call: CallStanding): boolean {
  const verdict = verdictOf(state, call);
  if (verdict?.decision === "allow") return true;
  if (verdict?.decision !== "ask") return false;
  const { approval } = call;
  return approval?.hash === verdict.hash && approval.answer?.decision === "allow";
}

/** As many of the calls, in their order, as may run beside what runs already. */
function fitting(
  { doing, settings, standing }: LoopState,
  ready: readonly CallStanding[],
): readonly CallStanding[] {
  const alone = (tool: string | undefined): boolean =>
    tool !== undefined && settings.tools[tool]?.alone === true;
  const all = standing.run?.turn?.reply?.calls ?? [];
  const running = all.filter(({ itemId }) => doing.calls.has(itemId));
  if (running.some(({ tool }) => alone(tool))) return [];
  const chosen: CallStanding[] = [];
  for (const call of ready) {
    const beside = running.length + chosen.length;
    if (beside >= settings.parallel) break;
    if (alone(call.tool)) return chosen.length === 0 && beside === 0 ? [call] : chosen;
    chosen.push(call);
  }
  return chosen;
}
