import type { Cause, RunId, RunOutcome } from "@millrace/core";
import type { Action } from "./action.ts";
import { answerCalls, settleCalls } from "./calls.ts";
import { correctionItemIdOf, laneItemIdOf, runIdOf, summaryItemIdOf, turnIdOf } from "./ids.ts";
import { deadlineOf, isTooLong, limitsOf, outOf, overspent } from "./limits.ts";
import type { Doing, LoopState, Queued, RunStanding, TurnStanding } from "./state.ts";

/** How often a model may mend an answer that has not the shape that was asked for. */
const maxCorrections = 2;
/** A run compacts no further than this: what is still too long then stays so. */
const maxCompactions = 8;

/**
 * The loop, one decision at a time: the same state always gives the same action. A driver performs
 * it, and what comes of it is in the next state. After a crash the facts are read again, and the next
 * decision goes on from there: recovery is no other code.
 */
export function decide(state: LoopState): Action {
  const { run } = state.standing;
  if (run === undefined) return beginRun(state);
  const ending = endingOf(state, run);
  if (ending !== undefined) return windDown(state, run, ending);
  if (run.compacting) return state.doing.compaction ? wait(state, run) : compact(run, false);
  const { turn } = run;
  if (turn === undefined || turn.stop !== undefined) return goOn(state, run, turn);
  if (turn.reply === undefined) return askModel(state, run, turn);
  const open = turn.reply.calls.filter((call) => !call.settled);
  if (open.length > 0) return answerCalls(state, turn.reply, open) ?? wait(state, run);
  return { do: "finish_turn", turnId: turn.turnId, stop: turn.reply.stop };
}

/** Idle: the first input that may begin a run does, and steers that wait go with it. */
function beginRun({ standing }: LoopState): Action {
  const speaks = (queued: Queued): boolean => queued.kind !== "answer" && !queued.held;
  const first = standing.queue.find(speaks);
  if (first === undefined) return { do: "wait" };
  const runId = runIdOf(first.inputId);
  const takes = standing.queue.filter((queued) => queued === first || queued.kind === "steer");
  return beginTurn(runId, 1, takes);
}

function askModel(state: LoopState, run: RunStanding, { turnId }: TurnStanding): Action {
  if (state.doing.reply) return wait(state, run);
  // Asked once more: the first turn begins unasked, and others spend from the same budget.
  const limit = overspent(state, run);
  if (limit !== undefined) return windDown(state, run, { outcome: "limited", limit });
  if (state.settings.custom) return { do: "respond", turnId };
  return { do: "reply", turnId, itemId: laneItemIdOf(turnId, 0) };
}

/** Between turns. The stop reason of the last reply says what comes next, not what was streamed. */
function goOn(state: LoopState, run: RunStanding, turn: TurnStanding | undefined): Action {
  const steers = state.standing.queue.filter(({ kind }) => kind === "steer");
  const stop = turn?.stop ?? "tools";
  switch (stop) {
    case "tools":
    case "paused":
      return nextTurn(state, run, steers);
    case "end": {
      if (steers.length > 0) return nextTurn(state, run, steers);
      const wrong = mendOutput(state, run);
      if (wrong !== undefined) return wrong;
      const followUps = state.standing.queue.filter(({ kind }) => kind === "follow_up");
      if (followUps.length > 0) return nextTurn(state, run, followUps);
      return finishRun(run, { outcome: "completed" });
    }
    case "length":
      if (steers.length > 0) return nextTurn(state, run, steers);
      return finishRun(run, { outcome: "limited", limit: "length" });
    case "filtered":
      return finishRun(run, { outcome: "failed", cause: filtered });
    case "aborted": {
      const limit = overspent(state, run);
      const limited = limit === undefined ? undefined : ({ outcome: "limited", limit } as const);
      return finishRun(run, limited ?? { outcome: "aborted" });
    }
    case "truncated":
    case "failed": {
      const cause = turn?.reply?.cause ?? lost;
      if (!isTooLong(cause)) return finishRun(run, { outcome: "failed", cause });
      // What was too long has been made shorter since: it is asked again.
      if (run.compacted === "worked") return nextTurn(state, run, steers);
      const mayTry = run.compacted === "no" && run.compactions < maxCompactions;
      if (mayTry && overspent(state, run) === undefined) return compact(run, true);
      return finishRun(run, { outcome: "failed", cause });
    }
    default:
      stop satisfies never;
      return { do: "wait" };
  }
}

/** Budgets are asked before the spend, and the context is made to fit before it is sent. */
function nextTurn(state: LoopState, run: RunStanding, takes: readonly Queued[]): Action {
  const { turns } = limitsOf(state, run);
  const limit = turns !== undefined && run.turns >= turns ? "turns" : overspent(state, run);
  if (limit !== undefined) return finishRun(run, { outcome: "limited", limit });
  const above = state.settings.compactAbove;
  const long = above !== undefined && run.contextTokens > above && run.compacted === "no";
  if (long && run.compactions < maxCompactions) return compact(run, true);
  return beginTurn(run.runId, run.turns + 1, takes);
}

/** Nothing if the answer has its shape; otherwise what to do about it. */
function mendOutput(state: LoopState, run: RunStanding): Action | undefined {
  const { output } = state.doing;
  if (output.state === "valid") return undefined;
  if (output.state === "unchecked") return { do: "check_output" };
  if (run.corrections >= maxCorrections) {
    return finishRun(run, {
      outcome: "failed",
      cause: { code: "invalid_output", message: output.message },
    });
  }
  const next = nextTurn(state, run, []);
  if (next.do !== "begin_turn") return next;
  const itemId = correctionItemIdOf(run.runId, run.corrections + 1);
  return { do: "correct", itemId, turnId: next.turnId, message: output.message };
}

/** A stop, or a limit that does not wait for the end of a turn. */
function endingOf(state: LoopState, run: RunStanding): RunOutcome | undefined {
  if (run.aborting) return { outcome: "aborted" };
  const limit = outOf(state, run);
  return limit === undefined ? undefined : { outcome: "limited", limit };
}

/** What is under way is stopped and waited for, every call gets its answer, then the run ends. */
function windDown(state: LoopState, run: RunStanding, ending: RunOutcome): Action {
  const { doing } = state;
  if (busy(doing)) return doing.interrupted ? { do: "wait" } : { do: "interrupt" };
  const { turn } = run;
  if (turn === undefined || turn.stop !== undefined) return finishRun(run, ending);
  const { turnId, reply } = turn;
  if (reply === undefined && !state.settings.custom) {
    return { do: "abandon_reply", turnId, itemId: laneItemIdOf(turnId, 0) };
  }
  const open = reply?.calls.filter((call) => !call.settled) ?? [];
  if (open.length > 0)
    return settleCalls(state, open, "the run was stopped before this call was run");
  return { do: "finish_turn", turnId, stop: reply?.stop ?? "aborted" };
}

/** Assessing is not waited for: what it finds out about calls that won't run is of no use. */
function busy(doing: Doing): boolean {
  return doing.reply || doing.compaction || doing.calls.size > 0;
}

function beginTurn(runId: RunId, number: number, takes: readonly Queued[]): Action {
  return {
    do: "begin_turn",
    runId,
    turnId: turnIdOf(runId, number),
    startsRun: number === 1,
    takes: takes.map(({ inputId }) => inputId),
  };
}

function compact(run: RunStanding, starts: boolean): Action {
  const number = run.compactions + (starts ? 1 : 0);
  return { do: "compact", runId: run.runId, itemId: summaryItemIdOf(run.runId, number), starts };
}

function finishRun({ runId }: RunStanding, outcome: RunOutcome): Action {
  return { do: "finish_run", runId, outcome };
}

/** Until something happens, or the run's time or a question's is over. */
function wait(state: LoopState, run: RunStanding): Action {
  const { seconds } = limitsOf(state, run);
  const { approvalSeconds } = state.settings;
  const times = seconds === undefined ? [] : [deadlineOf(run, seconds)];
  if (approvalSeconds !== undefined) {
    for (const { approval, settled } of run.turn?.reply?.calls ?? []) {
      if (approval !== undefined && approval.answer === undefined && !settled) {
        times.push(approval.askedAt + approvalSeconds * 1_000);
      }
    }
  }
  // A question whose time is over while its call is still assessed is answered after that.
  const ahead = times.filter((time) => time > state.now);
  return ahead.length === 0 ? { do: "wait" } : { do: "wait", until: Math.min(...ahead) };
}

const filtered: Cause = {
  code: "filtered",
  message: "the vendor's filter ended the reply: ask in other words, or another model",
};
const lost: Cause = { code: "reply_failed", message: "the reply failed, and left no cause" };
