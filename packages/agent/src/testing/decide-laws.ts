import { deepStrictEqual } from "node:assert/strict";
import type { Fact } from "@millrace/core";
import { Random } from "../../../../tests/kit/random.ts";
import { SimulatedWorld } from "./simulated-world.ts";
import type { Action } from "../loop/action.ts";
import { callsToRemember, isTooLong } from "../loop/limits.ts";
import type { Limits } from "../definition/limits.ts";
import { countLost } from "./count-lost.ts";
import type { Simulation } from "./simulate.ts";
import { standingOf } from "../loop/standing-of.ts";
import { decide } from "../loop/decide.ts";
import type { CallStanding, LoopState } from "../loop/state.ts";

/** The most actions between two events: a turn of four calls takes about five, and so does each input. */
const mostActions = 20;
const mostForInput = 6;
/** The most events until a run without further inputs has ended. */
const mostEvents = 600;

/** A state, and the decision in it. */
interface Decision {
  readonly state: LoopState;
  readonly action: string;
}

/**
 * Simulates one session from its first input until it is idle, and checks every decision. Returns all
 * decisions. `watch` is called with each decision and the facts that it is based on.
 */
export function simulateSession(
  seed: number,
  watch?: (decision: Decision, facts: readonly Fact[]) => void,
): readonly Decision[] {
  const random = new Random(seed);
  const world = new SimulatedWorld(random);
  const { session } = world;
  const decisions: Decision[] = [];
  const settle = (): void => {
    const most = mostActions + mostForInput * session.standing.queue.length;
    for (let count = 0; ; count += 1) {
      if (count > most) throw new Error("decides without end and without an event");
      const state = session.state();
      const action = decide(state);
      const decision = { state, action: JSON.stringify(action) };
      decisions.push(decision);
      watch?.(decision, session.ledger.facts);
      checkLaws(state, action);
      checkBudget(session, action);
      checkLost(session, action);
      if (action.do === "wait") return;
      if (action.do === "check_output") world.setOutput();
      else session.perform(action);
      if (action.do === "begin_turn" && random.chance(0.2)) session.output = "unchecked";
    }
  };
  for (let left = 1 + random.below(30); left > 0; left -= 1) {
    world.step();
    settle();
  }
  for (let count = 0; session.standing.run !== undefined; count += 1) {
    if (count > mostEvents) throw new Error("a run that is driven does not end");
    const last = decide(session.state());
    const until = last.do === "wait" ? last.until : undefined;
    // No work can end, so only time can end the run.
    if (!world.endWork()) session.now = until ?? session.now + 1_000_000;
    settle();
  }
  // A driver that reads all facts again computes the same standing.
  const remember = callsToRemember(session.settings);
  deepStrictEqual(standingOf(session.ledger.facts, remember), session.standing);
  return decisions;
}

/** Throws if a decision breaks a rule that must hold in every state. */
function checkLaws(state: LoopState, action: Action): void {
  const { run } = state.standing;
  const { doing } = state;
  switch (action.do) {
    case "begin_turn":
    case "correct":
    case "reply":
    case "respond":
    case "ask":
    case "assess":
      law(run?.aborting !== true, `${action.do} while the run is aborting`);
      law(!doing.reply && !doing.compaction, `${action.do} beside what is under way`);
      if (action.do !== "ask" && action.do !== "assess")
        law(doing.calls.size === 0, `${action.do} while calls run`);
      break;
    case "execute":
      law(run?.aborting !== true, "execute while the run is aborting");
      law(action.calls.length > 0, "execute nothing");
      law(
        doing.calls.size + action.calls.length <= state.settings.parallel,
        "more calls at once than may be",
      );
      for (const call of action.calls) checkExecution(state, call);
      checkAlone(state, action.calls);
      break;
    case "settle":
      for (const { call } of action.answers) {
        law(!call.settled, "answers a call that has its answer");
        law(!doing.calls.has(call.itemId), "answers a call that still runs");
      }
      break;
    case "finish_turn":
    case "finish_run": {
      const open = run?.turn?.reply?.calls.filter((call) => !call.settled) ?? [];
      law(open.length === 0, `${action.do} with ${open.length} calls open`);
      law(doing.calls.size === 0 && !doing.reply && !doing.compaction, `${action.do} while busy`);
      if (action.do === "finish_turn")
        law(run?.aborting !== true || action.stop === "aborted", "a stopped turn ends otherwise");
      if (action.do !== "finish_run") break;
      law(run?.aborting !== true || run.turn?.stop === "aborted", "a stop that no turn shows");
      law(run?.turn === undefined || run.turn.stop !== undefined, "finish_run within a turn");
      const { ending } = action;
      const byReply = ending.outcome === "failed" && ending.why === "reply";
      const tooLong = byReply && isTooLong(run?.turn?.reply?.cause);
      law(!tooLong || run?.compacted !== "worked", "gives up though the context is shorter now");
      break;
    }
    case "wait":
      law(action.until === undefined || action.until > state.now, "waits for a time that is over");
      break;
    case "schedule_retry": {
      const { attempts } = state.settings.retry;
      law(action.attempt <= attempts, `attempt ${action.attempt} of ${attempts}`);
      law(run?.aborting !== true, "another attempt while the run is aborting");
      law(doing.failed?.cause.retryable === true, "repeats what can't succeed");
      break;
    }
    case "await_client":
      law(run?.aborting !== true, "asks a client while the run is aborting");
      for (const { started } of action.calls) law(started === undefined, "asks a client twice");
      break;
    case "show_stop":
      law(run?.aborting === true, "shows a stop that was not asked for");
      law(run?.turn === undefined || run.turn.stop !== undefined, "show_stop within a turn");
      break;
    case "give_up": {
      law(run?.aborting !== true, "a stop that no turn shows");
      law(doing.calls.size === 0 && !doing.reply && !doing.compaction, "give_up while busy");
      break;
    }
    case "compact":
    case "start_compaction":
    case "end_compaction":
    case "check_answers":
    case "check_output":
    case "interrupt":
    case "end_reply":
    case "abandon_reply":
      break;
    default:
      action satisfies never;
  }
}

/** Throws if a request is sent although a limit forbids it. Counts the usage from the facts again. */
function checkBudget(session: Simulation, action: Action): void {
  const begins = action.do === "begin_turn" && !action.startsRun;
  if (!begins && action.do !== "correct" && !requests(action)) return;
  const { runId, limits: asked, startedAt } = session.run();
  const limit = (name: "turns" | "tokens" | "cost" | "seconds"): number => {
    const limits: Limits | undefined = asked;
    return Math.min(limits?.[name] ?? Infinity, session.settings.limits[name] ?? Infinity);
  };
  let tokens = 0;
  let cost = 0;
  let turns = 0;
  for (const fact of session.ledger.facts) {
    if (fact.type === "turn_started" && fact.runId === runId) turns += 1;
    if (fact.type !== "usage_reported" || fact.runId !== runId) continue;
    tokens += fact.usage.inputTokens + fact.usage.outputTokens;
    cost += fact.usage.cost ?? 0;
  }
  const { requests: lost } = countLost(session.ledger.facts, session.run().runId);
  const input = Math.max(1_000, session.run().contextTokens);
  const price = session.settings.models?.[0]?.price;
  if (lost > 0 && limit("cost") < Infinity) law(price !== undefined, "takes a price for 0");
  tokens += lost * (input + 1_000);
  cost += (lost * (input * (price?.input ?? 0) + 1_000 * (price?.output ?? 0))) / 1_000_000;
  law(tokens < limit("tokens"), `${action.do} after ${tokens} of ${limit("tokens")} tokens`);
  law(cost < limit("cost"), `${action.do} after ${cost} of ${limit("cost")} dollars`);
  law(session.now < startedAt + limit("seconds") * 1_000, `${action.do} after its time`);
  if (!requests(action)) law(turns < limit("turns"), `${action.do} after ${turns} turns`);
  law(session.allowance === undefined, `${action.do} beyond another's budget`);
}

/** True if the action sends a request, or decides that one is sent. */
function requests(action: Action): boolean {
  const sends: readonly Action["do"][] = ["reply", "respond", "start_compaction", "compact"];
  return sends.includes(action.do);
}

/** Throws if a run goes on that has lost as many drivers in a row as it may, or ends so without that. */
function checkLost(session: Simulation, action: Action): void {
  const { run } = session.standing;
  if (run === undefined || action.do === "wait") return;
  const most = Math.min(run.limits?.lost ?? Infinity, session.settings.limits.lost ?? Infinity);
  const { inRow } = countLost(session.ledger.facts, session.run().runId);
  if (action.do === "give_up") law(inRow >= most, `gives up after ${inRow} of ${most} drivers`);
  const goesOn = !run.aborting && ["reply", "respond", "compact", "execute"].includes(action.do);
  law(!goesOn || inRow < most, `${action.do} after ${inRow} of ${most} lost drivers`);
}

/** The conditions under which a call may run, written independently of the loop's code. */
function checkExecution({ standing, doing, settings }: LoopState, call: CallStanding): void {
  const reply = standing.run?.turn?.reply;
  law(reply?.stop === "tools", `runs a call of a reply that ended as ${reply?.stop}`);
  const verdict = doing.verdicts.get(call.itemId);
  law(verdict !== undefined, "runs a call that was not assessed");
  law(verdict?.decision !== "refuse", "runs a call that was refused");
  if (verdict?.decision === "ask") {
    law(call.approval?.hash === verdict.hash, "runs something else than was asked about");
    law(call.approval?.answer?.decision === "allow", "runs a call that was not allowed");
    const late = (call.approval?.answer?.at ?? 0) - (call.approval?.askedAt ?? 0);
    law(late < (settings.approvalSeconds ?? Infinity) * 1_000, "runs what was allowed too late");
  }
  law(!call.settled, "runs a call that has its answer");
  law(!doing.calls.has(call.itemId), "runs a call that runs");
  const lost = call.started !== undefined;
  const effect = settings.tools[call.tool]?.effect ?? "effectful";
  law(!(lost && effect === "effectful"), "runs an effectful call again whose outcome was lost");
}

function checkAlone(
  { standing, doing, settings }: LoopState,
  begun: readonly CallStanding[],
): void {
  const calls = standing.run?.turn?.reply?.calls ?? [];
  const running = [...calls.filter(({ itemId }) => doing.calls.has(itemId)), ...begun];
  const alone = running.some(({ tool }) => settings.tools[tool]?.alone === true);
  law(!alone || running.length === 1, "something runs beside a call that runs alone");
}

export function law(holds: boolean, broken: string): void {
  if (!holds) throw new Error(broken);
}
