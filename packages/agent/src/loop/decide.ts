import { retryDelay } from "@millrace/core/ports";
import type { RunId } from "@millrace/core";
import type { Action, RunEnding } from "./action.ts";
import { answerCalls, settleCalls } from "./calls.ts";
import { correctionItemIdOf, laneItemIdOf, runIdOf, summaryItemIdOf, turnIdOf } from "./ids.ts";
import { deadlineOf, isTooLong, limitsOf, outOf, overspent } from "./limits.ts";
import { addSpent } from "./outline.ts";
import type { Doing, LoopState, Queued, RunStanding, TurnStanding } from "./state.ts";

/** How often a model may mend an answer that has not the requested shape. */
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
  if (run.compacting) return summarise(state, run);
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

function askModel(state: LoopState, run: RunStanding, turn: TurnStanding): Action {
  const { turnId, attempts } = turn;
  const { doing, settings } = state;
  if (doing.reply) return wait(state, run);
  const itemId = laneItemIdOf(turnId, 0);
  const again = retry(state, run, attempts);
  if (again === "over") return { do: "end_reply", turnId, itemId };
  if (again === "waiting") return wait(state, run);
  if (again !== undefined) return { do: "schedule_retry", of: "reply", runId: run.runId, ...again };
  // Asked once more: the first turn begins unasked, and others spend from the same budget.
  const limit = overspent(state, run);
  if (limit !== undefined) return windDown(state, run, { outcome: "limited", limit });
  if (settings.custom) return { do: "respond", turnId };
  return { do: "reply", turnId, itemId, attempt: attempts + 1 };
}

/** Goes on with the compaction that is on, also with one that a crash has cut. */
function summarise(state: LoopState, run: RunStanding): Action {
  const { runId, compactions, summaryAttempts } = run;
  if (state.doing.compaction) return wait(state, run);
  const again = retry(state, run, summaryAttempts);
  if (again === "over") return { do: "end_compaction", runId };
  if (again === "waiting") return wait(state, run);
  if (again !== undefined) return { do: "schedule_retry", of: "summary", runId, ...again };
  const itemId = summaryItemIdOf(runId, compactions);
  return { do: "compact", runId, itemId, attempt: summaryAttempts + 1 };
}

/**
 * What follows the attempt that failed last: nothing, a wait that is on, or another attempt. Undefined
 * if none failed, or if its wait is over. Every attempt is one request, so the policy's number of
 * attempts is the number of requests.
 */
function retry(
  state: LoopState,
  run: RunStanding,
  before: number,
): "over" | "waiting" | { readonly attempt: number; readonly delayMs: number } | undefined {
  const { failed } = state.doing;
  if (failed === undefined) return undefined;
  if (failed.retryAt !== undefined) return state.now < failed.retryAt ? "waiting" : undefined;
  const spent = { ...run, used: addSpent(run.used, failed.used) };
  if (overspent(state, spent) !== undefined) return "over";
  const { cause, jitter } = failed;
  const attempt = before + 1;
  const delayMs = retryDelay(state.settings.retry, { attempt, cause }, jitter);
  return delayMs === undefined ? "over" : { attempt: attempt + 1, delayMs };
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
      return finishRun(run, { outcome: "failed", why: "filtered" });
    case "aborted": {
      const limit = overspent(state, run);
      const limited = limit === undefined ? undefined : ({ outcome: "limited", limit } as const);
      return finishRun(run, limited ?? { outcome: "aborted" });
    }
    case "truncated":
    case "failed": {
      const failed: RunEnding = { outcome: "failed", why: "reply" };
      if (!isTooLong(turn?.reply?.cause)) return finishRun(run, failed);
      // What was too long has been made shorter since: it is asked again.
      if (run.compacted === "worked") return nextTurn(state, run, steers);
      const mayTry = run.compacted === "no" && run.compactions < maxCompactions;
      if (mayTry && overspent(state, run) === undefined) return startCompaction(run);
      return finishRun(run, failed);
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
  if (long && run.compactions < maxCompactions) return startCompaction(run);
  return beginTurn(run.runId, run.turns + 1, takes);
}

/** Nothing if the answer has its shape; otherwise what to do about it. */
function mendOutput(state: LoopState, run: RunStanding): Action | undefined {
  const { output } = state.doing;
  if (output === "valid") return undefined;
  if (output === "unchecked") return { do: "check_output" };
  if (run.corrections >= maxCorrections) {
    return finishRun(run, { outcome: "failed", why: "output" });
  }
  const next = nextTurn(state, run, []);
  if (next.do !== "begin_turn") return next;
  const itemId = correctionItemIdOf(run.runId, run.corrections + 1);
  return { do: "correct", itemId, turnId: next.turnId };
}

/** A stop, or a limit that does not wait for the end of a turn. */
function endingOf(state: LoopState, run: RunStanding): RunEnding | undefined {
  if (run.aborting) return { outcome: "aborted" };
  const limit = outOf(state, run);
  return limit === undefined ? undefined : { outcome: "limited", limit };
}

/**
 * What is under way is stopped and waited for, every call gets its answer, then the run ends. A run
 * that a person stopped has an aborted item and an aborted turn, wherever the stop fell. Between two
 * turns the next one begins for that, and ends at once: the last one keeps its own ending.
 */
function windDown(state: LoopState, run: RunStanding, ending: RunEnding): Action {
  const { doing } = state;
  if (busy(doing)) return doing.interrupted ? { do: "wait" } : { do: "interrupt" };
  const { turn } = run;
  const stopped = ending.outcome === "aborted";
  if (turn === undefined || turn.stop !== undefined) {
    if (!stopped || turn?.stop === "aborted") return finishRun(run, ending);
    return { do: "show_stop", runId: run.runId, turnId: turnIdOf(run.runId, run.turns + 1) };
  }
  const { turnId, reply } = turn;
  if (reply === undefined && !state.settings.custom) {
    return { do: "abandon_reply", turnId, itemId: laneItemIdOf(turnId, 0) };
  }
  const open = reply?.calls.filter((call) => !call.settled) ?? [];
  if (open.length > 0) return settleCalls(state, open, "stopped");
  return { do: "finish_turn", turnId, stop: stopped ? "aborted" : (reply?.stop ?? "aborted") };
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

function startCompaction({ runId }: RunStanding): Action {
  return { do: "start_compaction", runId };
}

function finishRun({ runId }: RunStanding, ending: RunEnding): Action {
  return { do: "finish_run", runId, ending };
}

/** Until something happens, or the time of the run, of a question or of the next attempt is there. */
function wait(state: LoopState, run: RunStanding): Action {
  const { seconds } = limitsOf(state, run);
  const { approvalSeconds } = state.settings;
  const times = seconds === undefined ? [] : [deadlineOf(run, seconds)];
  const { failed } = state.doing;
  if (failed?.retryAt !== undefined) times.push(failed.retryAt);
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
