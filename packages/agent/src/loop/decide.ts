import { retryDelay } from "@millrace/core/model";
import type { RunId } from "@millrace/core";
import type { Action, ActionOf, RunEnding } from "./action.ts";
import { answerCalls, answersTo, settleCalls } from "./calls.ts";
import { correctionItemIdOf, laneItemIdOf, runIdOf, summaryItemIdOf, turnIdOf } from "./ids.ts";
import { deadlineOf, hasLostDrivers, isTooLong, limitsOf, outOf, overspent } from "./limits.ts";
import { addSpent } from "./state.ts";
import type { Doing, LoopState, Queued, RunStanding, TurnStanding } from "./state.ts";

/** How often a model may correct an answer that does not match the requested schema. */
const maxCorrections = 2;
/** How many compactions a run may try. Bounds the cost if the context stays too long after each. */
const maxCompactions = 8;

/**
 * The agent loop as a pure function: returns the next action for a state. The same state always gives
 * the same action. A driver performs the action; its effect is visible in the next state, and the
 * driver decides again. Called after every change of the session, so it must be cheap: linear in the
 * queue, the calls of the current reply and the remembered calls.
 *
 * There is no code for recovery. After a crash the next driver reads the facts and decides from them;
 * work of the lost driver is simply not in `state.doing`.
 */
export function decide(state: LoopState): Action {
  const { run } = state.standing;
  if (run === undefined) return beginRun(state);
  const ending = endingOf(state, run);
  if (ending !== undefined) return windDown(state, run, ending);
  if (hasLostDrivers(state, run)) return giveUp(state, run);
  if (run.compacting) return summarise(state, run);
  const { turn } = run;
  if (turn === undefined || turn.stop !== undefined) return betweenTurns(state, run, turn);
  if (turn.reply === undefined) return askModel(state, run, turn);
  const open = turn.reply.calls.filter((call) => !call.settled);
  if (open.length > 0) return answerCalls(state, turn.reply, open) ?? wait(state, run);
  return { do: "finish_turn", turnId: turn.turnId, stop: turn.reply.stop };
}

/**
 * Without a run: the first queued input that may begin one does. All queued steers become items of its
 * first turn.
 */
function beginRun({ standing }: LoopState): Action {
  const beginsRun = (queued: Queued): boolean => queued.kind !== "answer" && !queued.held;
  const first = standing.queue.find(beginsRun);
  if (first === undefined) return { do: "wait" };
  const runId = runIdOf(first.inputId);
  const takes = standing.queue.filter((queued) => queued === first || queued.kind === "steer");
  return beginTurn(runId, 1, takes);
}

/** In a turn without a reply: send the request, wait for it, or decide about the failed attempt. */
function askModel(state: LoopState, run: RunStanding, turn: TurnStanding): Action {
  const { turnId, attempts } = turn;
  const { doing, settings } = state;
  if (doing.reply) return wait(state, run);
  const itemId = laneItemIdOf(turnId, 0);
  const again = withoutReasoning(state, turn) ?? retry(state, run, attempts);
  if (again === "over") return { do: "end_reply", turnId, itemId };
  if (again === "waiting") return wait(state, run);
  if (again !== undefined) return { do: "schedule_retry", of: "reply", runId: run.runId, ...again };
  // `nextTurn` does not check the first turn, and a parent's budget may have been spent since.
  const limit = overspent(state, run);
  if (limit !== undefined) return windDown(state, run, { outcome: "limited", limit });
  if (settings.custom) return { do: "respond", turnId };
  // Later turns are begun after this was looked at.
  if (run.turns === 1 && attempts === 0 && isLong(state, run)) return startCompaction(run);
  return { do: "reply", turnId, itemId, attempt: attempts + 1 };
}

/**
 * A vendor that refuses what a model had thought before, since that belongs to another account or to another
 * beginning, is asked again at once, without it. Once for each turn: then the refusal has another reason.
 */
function withoutReasoning(
  { doing: { failed } }: LoopState,
  { attempts, droppedReasoning }: TurnStanding,
): Pick<ActionOf<"schedule_retry">, "attempt" | "delayMs" | "dropsReasoning"> | undefined {
  if (failed?.refusesReasoning !== true || failed.retryAt !== undefined) return undefined;
  return droppedReasoning ? undefined : { attempt: attempts + 1, delayMs: 0, dropsReasoning: true };
}

/** During a compaction: send the summary request, wait for it, or decide about the failed attempt. */
function summarise(state: LoopState, run: RunStanding): Action {
  const { runId, compactions, summaryAttempts } = run;
  if (state.doing.compaction) return wait(state, run);
  const again = retry(state, run, summaryAttempts);
  if (again === "over") return { do: "end_compaction", runId };
  if (again === "waiting") return wait(state, run);
  if (again !== undefined) return { do: "schedule_retry", of: "summary", runId, ...again };
  // `startCompaction` was checked, and lost attempts may have been charged since.
  const limit = overspent(state, run);
  if (limit !== undefined) return windDown(state, run, { outcome: "limited", limit });
  const itemId = summaryItemIdOf(runId, compactions);
  return { do: "compact", runId, itemId, attempt: summaryAttempts + 1 };
}

/**
 * Decides about the latest failed attempt. `over`: no retry. `waiting`: a retry is scheduled and not
 * due. An object: schedule this retry. Undefined: send a request now, because no attempt failed or the
 * retry is due. An attempt is exactly one request, so the policy's attempts count requests. `before` is
 * the number of earlier failed attempts.
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

/**
 * Between turns: the next turn, a compaction, a correction, or the end of the run. Depends on the stop
 * reason of the last reply alone, never on its content. Steers come before the end of a run, and
 * follow-ups only after a valid answer.
 */
function betweenTurns(state: LoopState, run: RunStanding, turn: TurnStanding | undefined): Action {
  const steers = state.standing.queue.filter(({ kind }) => kind === "steer");
  const stop = turn?.stop ?? "tools";
  switch (stop) {
    case "tools":
    case "paused":
      return nextTurn(state, run, steers);
    case "end": {
      if (steers.length > 0) return nextTurn(state, run, steers);
      const correction = checkOutput(state, run);
      if (correction !== undefined) return correction;
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
      // A compaction has shortened the context since, so the request is sent again.
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

/** Starts the next turn, unless a limit is reached or the context is to be compacted first. */
function nextTurn(state: LoopState, run: RunStanding, takes: readonly Queued[]): Action {
  const { turns } = limitsOf(state, run);
  const limit = turns !== undefined && run.turns >= turns ? "turns" : overspent(state, run);
  if (limit !== undefined) return finishRun(run, { outcome: "limited", limit });
  if (isLong(state, run)) return startCompaction(run);
  return beginTurn(run.runId, run.turns + 1, takes);
}

/** Whether the context is to be compacted before the next request. */
function isLong({ settings: { compactAbove } }: LoopState, run: RunStanding): boolean {
  const isAbove = compactAbove !== undefined && run.contextTokens > compactAbove;
  return isAbove && run.compacted === "no" && run.compactions < maxCompactions;
}

/** Undefined if the answer matches the requested schema. Otherwise the check, a correction, or the end. */
function checkOutput(state: LoopState, run: RunStanding): Action | undefined {
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

/** How the run must end now: by a stop, or by a limit that applies in the middle of a turn. */
function endingOf(state: LoopState, run: RunStanding): RunEnding | undefined {
  if (run.aborting) return { outcome: "aborted" };
  const limit = outOf(state, run);
  return limit === undefined ? undefined : { outcome: "limited", limit };
}

/**
 * Ends a run early, one action at a time: abort the work in progress and wait for it, settle every open
 * call, finish the turn, finish the run. A run that a person stopped always has an aborted item and an
 * aborted turn. If the stop came between two turns, one more turn is stored for that, because the last
 * turn keeps its own stop reason.
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

/** Ends a run whose drivers were lost, all at once. What a lost driver had begun is not in progress here. */
function giveUp(state: LoopState, run: RunStanding): Action {
  const { doing } = state;
  if (busy(doing)) return doing.interrupted ? { do: "wait" } : { do: "interrupt" };
  const open = run.turn?.reply?.calls.filter((call) => !call.settled) ?? [];
  return { do: "give_up", runId: run.runId, answers: answersTo(state, open, "stopped") };
}

/** An assessment in progress does not count: its calls will not run, and a hook may never settle. */
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

/** Waits for a change, or until the next deadline: of the run, of an approval, or of a retry. */
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
  // A deadline in the past must not wake the driver again: its approval expires once the call is assessed.
  const ahead = times.filter((time) => time > state.now);
  return ahead.length === 0 ? { do: "wait" } : { do: "wait", until: Math.min(...ahead) };
}
