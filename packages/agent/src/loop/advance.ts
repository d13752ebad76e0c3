import { withoutUndone } from "@millrace/core/reading";
import { laneItemIdOf, runIdOf } from "./ids.ts";
import { isTooLong, rememberedCalls } from "./limits.ts";
import type { InputOutline, ItemOutline, Outline, ReplyOutline } from "./outline.ts";
import { addSpent, emptyRun, emptyStanding } from "./state.ts";
import type { CallStanding, RunStanding, Standing, TurnStanding } from "./state.ts";

/**
 * The standing of a session after all its facts, from outlines. Linear in their number; `advance` adds one in
 * O(1). `remember` is how many calls the detection of repeats looks at.
 */
export function standingOfOutlines(
  outlines: readonly Outline[],
  remember: number = rememberedCalls,
): Standing {
  return withoutUndone(outlines).reduce(
    (standing, fact) => advance(standing, fact, remember),
    emptyStanding,
  );
}

/**
 * The standing after one more fact. Pure. The journal calls it for each new fact, and engines call it
 * with outlines from their history. Not for a claim that undoes facts: its standing depends on earlier
 * facts, so call `standingOfOutlines` with all of them.
 */
export function advance(
  standing: Standing,
  fact: Outline,
  remember: number = rememberedCalls,
): Standing {
  switch (fact.type) {
    case "session_claimed":
      return inRun({ ...standing, incarnation: fact.incarnation }, (run) => takeOver(run, fact));
    case "session_released":
      return inRun(standing, (run) => ({ ...run, released: true }));
    case "input_accepted":
      return accept(standing, fact.inputId, fact.input);
    case "queue_updated":
      return withoutInput(standing, fact.inputId);
    case "run_started": {
      const { runId, time } = fact;
      const begun = standing.queue.find((queued) => runIdOf(queued.inputId) === runId);
      const run = { runId, startedAt: time, limits: begun?.limits };
      return { ...standing, run: emptyRun(run, standing.contextTokens) };
    }
    case "run_finished": {
      const stopped = fact.outcome === "aborted";
      const queue = standing.queue.map((queued) => ({
        ...queued,
        held: queued.held || (stopped && queued.kind !== "prompt"),
      }));
      const contextTokens = standing.run?.contextTokens ?? standing.contextTokens;
      return { ...standing, queue, contextTokens, run: undefined };
    }
    case "item_committed": {
      const { inputId } = fact;
      const rest = inputId === undefined ? standing : withoutInput(standing, inputId);
      return inRun(withTool(rest, fact.ran), (run) => moved(storeItem(run, fact, remember)));
    }
    case "other":
      return standing;
    default:
      return inRun(standing, (run) => {
        const after = advanceRun(run, fact);
        return isTrace(run, fact) ? moved(after) : after;
      });
  }
}

/**
 * A driver goes on with a run whose driver before stored no release. An attempt that it had opened is lost:
 * it may have been billed, and may be what has ended the process. A run that waits for people had none.
 */
function takeOver(
  run: RunStanding,
  { resumes, to }: Extract<Outline, { readonly type: "session_claimed" }>,
): RunStanding {
  const isLost = resumes === run.runId && to === undefined && !run.released && !waitsForPeople(run);
  const taken = run.released ? { ...run, released: false } : run;
  return isLost ? lose(taken) : taken;
}

/** Counts a driver that ended without a trace, and the request that it had sent for a reply or a summary. */
function lose(run: RunStanding): RunStanding {
  const { turn, compacting } = run;
  const asked = turn !== undefined && turn.stop === undefined && turn.reply === undefined;
  const requests = asked || compacting ? 1 : 0;
  return { ...run, lost: run.lost + requests, lostInRow: run.lostInRow + 1 };
}

/** Whether all that is open waits for an answer, so that its driver has nothing to do. */
function waitsForPeople({ turn }: RunStanding): boolean {
  const open = turn?.reply?.calls.filter(({ settled }) => !settled) ?? [];
  const isAsked = ({ approval }: CallStanding): boolean =>
    approval !== undefined && approval.answer === undefined;
  const isClients = ({ client, started }: CallStanding): boolean => client && started !== undefined;
  return open.length > 0 && open.every((call) => isAsked(call) || isClients(call));
}

/**
 * Whether a fact shows that the run moves. A call that is begun again does not: it may be what ends the
 * process each time.
 */
function isTrace({ turn }: RunStanding, fact: RunFact): boolean {
  if (fact.type === "usage_reported") return fact.lost !== true;
  if (fact.type !== "tool_execution_started") return true;
  const call = turn?.reply?.calls.find(({ itemId }) => itemId === fact.itemId);
  return call?.started === undefined;
}

function moved(run: RunStanding): RunStanding {
  return run.lostInRow === 0 ? run : { ...run, lostInRow: 0 };
}

type RunFact = Extract<
  Outline,
  {
    readonly type:
      | "turn_started"
      | "turn_finished"
      | "approval_requested"
      | "approval_resolved"
      | "tool_execution_started"
      | "compaction_started"
      | "compaction_finished"
      | "usage_reported"
      | "reasoning_dropped";
  }
>;

function advanceRun(run: RunStanding, fact: RunFact): RunStanding {
  switch (fact.type) {
    case "turn_started": {
      const turn = { turnId: fact.turnId, attempts: 0, reply: undefined, stop: undefined };
      const begun = { ...turn, droppedReasoning: false, showsStop: false };
      return { ...run, turns: run.turns + 1, turn: begun };
    }
    case "turn_finished":
      return inTurn(run, (turn) => ({ ...turn, stop: fact.stop }));
    case "approval_requested": {
      const { approvalId, hash, time } = fact;
      const approval = { approvalId, hash, askedAt: time, answer: undefined };
      return inCalls(run, (call) =>
        call.callId === fact.callId ? { ...call, asked: call.asked + 1, approval } : call,
      );
    }
    case "approval_resolved":
      return inCalls(run, (call) => resolve(call, fact));
    case "tool_execution_started":
      return inCalls(run, (call) =>
        call.itemId === fact.itemId
          ? { ...call, started: fact.epoch, client: fact.client === true }
          : call,
      );
    case "compaction_started":
      return { ...run, compacting: true, compactions: run.compactions + 1, summaryAttempts: 0 };
    case "compaction_finished":
      return fact.worked
        ? { ...run, compacting: false, compacted: "worked", contextTokens: 0 } // not known until a reply
        : { ...run, compacting: false, compacted: "in_vain" };
    case "usage_reported":
      return fact.lost === true ? lose(run) : report(run, fact);
    case "reasoning_dropped":
      // The refused request is no attempt of the retry policy.
      return inTurn(run, (turn) => ({
        ...turn,
        droppedReasoning: true,
        attempts: Math.max(0, turn.attempts - 1),
      }));
    default:
      fact satisfies never;
      return run;
  }
}

/**
 * Adds usage to the run. Usage of a turn before its reply, or of a compaction, is that of a failed
 * attempt, so the attempt is counted. The usage of a stored reply follows its item.
 */
function report(
  run: RunStanding,
  { turnId, tokens, cost }: Extract<Outline, { readonly type: "usage_reported" }>,
): RunStanding {
  const used = addSpent(run.used, { tokens, cost });
  const ofSummary = run.compacting && turnId === undefined ? 1 : 0;
  const spent = { ...run, used, summaryAttempts: run.summaryAttempts + ofSummary };
  return inTurn(spent, (turn) =>
    turn.turnId === turnId && turn.reply === undefined
      ? { ...turn, attempts: turn.attempts + 1 }
      : turn,
  );
}

function accept(standing: Standing, inputId: Queued["inputId"], input: InputOutline): Standing {
  if (input.kind === "abort") {
    const { run } = standing;
    const applies = run !== undefined && (input.runId ?? run.runId) === run.runId;
    return applies ? { ...standing, run: { ...run, aborting: true } } : standing;
  }
  const { kind } = input;
  const limits = kind === "answer" ? undefined : input.limits;
  return { ...standing, queue: [...standing.queue, { inputId, kind, limits, held: false }] };
}

type Queued = Standing["queue"][number];

function resolve(
  call: CallStanding,
  fact: Extract<Outline, { readonly type: "approval_resolved" }>,
): CallStanding {
  const { approval } = call;
  // The first answer counts. Two people may answer at once, so a second one may be stored.
  if (approval?.approvalId !== fact.approvalId || approval.answer !== undefined) return call;
  // A yes to something else than was asked is a no.
  const isOther = fact.hash !== undefined && fact.hash !== approval.hash;
  const answer = { decision: isOther ? "deny" : fact.decision, at: fact.time } as const;
  return { ...call, approval: { ...approval, answer } };
}

function storeItem(run: RunStanding, fact: ItemOutline, remember: number): RunStanding {
  if (fact.correction === true) return { ...run, corrections: run.corrections + 1 };
  const { turn } = run;
  if (turn === undefined) return run;
  const shown = fact.aborted === true ? { ...turn, showsStop: true } : turn;
  const replies = fact.itemId === laneItemIdOf(turn.turnId, 0);
  if (replies && fact.reply !== undefined) return storeReply(run, shown, fact.reply, remember);
  const settle = (call: CallStanding): CallStanding =>
    call.itemId === fact.itemId ? { ...call, settled: true } : call;
  return inCalls({ ...run, turn: shown }, settle);
}

function storeReply(
  run: RunStanding,
  turn: TurnStanding,
  { stop, cause, tokens, calls: asked }: ReplyOutline,
  remember: number,
): RunStanding {
  const { turnId } = turn;
  const calls = asked.map(({ callId, tool, settled = false }, index): CallStanding => ({
    callId,
    tool,
    itemId: laneItemIdOf(turnId, index + 1),
    lane: index + 1,
    asked: 0,
    approval: undefined,
    started: undefined,
    client: false,
    settled,
  }));
  const prints = asked.map(({ tool, print }) => ({ tool, print }));
  return {
    ...run,
    calls: [...run.calls, ...prints].slice(-remember),
    contextTokens: tokens > 0 ? tokens : run.contextTokens, // a reply that was cut reports none
    // Refused as too long right after a compaction: a second compaction would not help.
    compacted: run.compacted !== "no" && isTooLong(cause) ? "in_vain" : "no",
    turn: { ...turn, reply: { itemId: laneItemIdOf(turnId, 0), stop, cause, calls } },
  };
}

function inRun(standing: Standing, change: (run: RunStanding) => RunStanding): Standing {
  return standing.run === undefined ? standing : { ...standing, run: change(standing.run) };
}

function inTurn(run: RunStanding, change: (turn: TurnStanding) => TurnStanding): RunStanding {
  return run.turn === undefined ? run : { ...run, turn: change(run.turn) };
}

function inCalls(run: RunStanding, change: (call: CallStanding) => CallStanding): RunStanding {
  return inTurn(run, (turn) =>
    turn.reply === undefined
      ? turn
      : { ...turn, reply: { ...turn.reply, calls: turn.reply.calls.map(change) } },
  );
}

/** More names than these are one that no tool has: it counts as every label. */
const mostNames = 256;

function withTool(standing: Standing, tool: string | undefined): Standing {
  if (tool === undefined) return standing;
  const name = standing.ran.length < mostNames ? tool : "*";
  return standing.ran.includes(name) ? standing : { ...standing, ran: [...standing.ran, name] };
}

function withoutInput(standing: Standing, inputId: string): Standing {
  return { ...standing, queue: standing.queue.filter((queued) => queued.inputId !== inputId) };
}
