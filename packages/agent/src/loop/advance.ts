import { addUsage, withoutUndone as factsThatStand } from "@millrace/core";
import type { Fact, FactOf, Item, JsonObject, ToolCallPart, Usage } from "@millrace/core";
import { laneItemIdOf, runIdOf } from "./ids.ts";
import { isTooLong, rememberedCalls } from "./limits.ts";
import { emptyRun, emptyStanding } from "./state.ts";
import type { CallPrint, CallStanding, RunStanding, Standing, TurnStanding } from "./state.ts";

/** Where the session stands after all its facts. */
export function standingOf(facts: readonly Fact[]): Standing {
  return factsThatStand(facts).reduce(advance, emptyStanding);
}

/**
 * What a fact makes of where the session stands. A claim that undoes facts can't be told from here:
 * whoever meets one begins anew with `standingOf`.
 */
export function advance(standing: Standing, fact: Fact): Standing {
  switch (fact.type) {
    case "session_claimed":
      return { ...standing, incarnation: fact.incarnation };
    case "input_accepted":
      return accept(standing, fact);
    case "queue_updated":
      return withoutInput(standing, fact.inputId);
    case "run_started": {
      const begun = standing.queue.find((queued) => runIdOf(queued.inputId) === fact.runId);
      const { runId, time } = fact;
      return { ...standing, run: emptyRun({ runId, startedAt: time, options: begun?.options }) };
    }
    case "run_finished": {
      const stopped = fact.outcome === "aborted";
      const queue = standing.queue.map((queued) => ({
        ...queued,
        held: queued.held || (stopped && queued.kind !== "prompt"),
      }));
      return { ...standing, queue, run: undefined };
    }
    case "item_committed":
    case "item_replaced": {
      const { inputId } = fact;
      const rest = inputId === undefined ? standing : withoutInput(standing, inputId);
      return inRun(rest, (run) => storeItem(run, fact));
    }
    case "turn_started":
    case "turn_finished":
    case "approval_requested":
    case "approval_resolved":
    case "tool_execution_started":
    case "compaction_started":
    case "compaction_finished":
    case "usage_reported":
      return inRun(standing, (run) => advanceRun(run, fact));
    case "tool_execution_finished": // the answer itself settles the call
    case "opaque":
      return standing;
    default:
      fact satisfies never;
      return standing;
  }
}

type RunFact = FactOf<
  | "turn_started"
  | "turn_finished"
  | "approval_requested"
  | "approval_resolved"
  | "tool_execution_started"
  | "compaction_started"
  | "compaction_finished"
  | "usage_reported"
>;

function advanceRun(run: RunStanding, fact: RunFact): RunStanding {
  switch (fact.type) {
    case "turn_started": {
      const turn = { turnId: fact.turnId, attempts: 0, reply: undefined, stop: undefined };
      return { ...run, turns: run.turns + 1, turn };
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
        call.itemId === fact.itemId ? { ...call, started: fact.epoch } : call,
      );
    case "compaction_started":
      return { ...run, compacting: true, compactions: run.compactions + 1 };
    case "compaction_finished":
      return {
        ...run,
        compacting: false,
        compacted: fact.summary === undefined ? "in_vain" : "worked",
      };
    case "usage_reported": {
      const used = { ...run, used: addKnown(run.used, fact.usage) };
      return inTurn(used, (turn) =>
        turn.turnId === fact.turnId && turn.reply === undefined
          ? { ...turn, attempts: turn.attempts + 1 }
          : turn,
      );
    }
    default:
      fact satisfies never;
      return run;
  }
}

function accept(standing: Standing, { inputId, input }: FactOf<"input_accepted">): Standing {
  if (input.kind === "abort") {
    const { run } = standing;
    const meant = run !== undefined && (input.runId ?? run.runId) === run.runId;
    return meant ? { ...standing, run: { ...run, aborting: true } } : standing;
  }
  const { kind } = input;
  const options = kind === "answer" ? undefined : input.options;
  const callId = kind === "answer" ? input.callId : undefined;
  const queued = { inputId, kind, options, held: false, callId };
  return { ...standing, queue: [...standing.queue, queued] };
}

function resolve(call: CallStanding, fact: FactOf<"approval_resolved">): CallStanding {
  const { approval } = call;
  // Answered once: a second answer is a fact too, and changes nothing.
  if (approval?.approvalId !== fact.approvalId || approval.answer !== undefined) return call;
  const answer = { decision: fact.decision, reason: fact.reason, at: fact.time };
  return { ...call, approval: { ...approval, answer } };
}

function storeItem(
  run: RunStanding,
  fact: FactOf<"item_committed" | "item_replaced">,
): RunStanding {
  const { item } = fact;
  const { turn } = run;
  if (item.author === "user" && fact.inputId === undefined && fact.runId === run.runId) {
    return { ...run, corrections: run.corrections + 1 };
  }
  if (turn !== undefined && item.id === laneItemIdOf(turn.turnId, 0)) {
    return storeReply(run, turn, item);
  }
  return inCalls(run, (call) => (call.itemId === item.id ? { ...call, settled: true } : call));
}

function storeReply(run: RunStanding, turn: TurnStanding, item: Item): RunStanding {
  const parts = item.parts.filter((part) => part.kind === "tool_call");
  const answered = new Set(
    item.parts.map((part) => (part.kind === "tool_result" ? part.callId : undefined)),
  );
  const calls = parts.map((part, index): CallStanding => ({
    callId: part.callId,
    tool: part.tool,
    itemId: laneItemIdOf(turn.turnId, index + 1),
    lane: index + 1,
    asked: 0,
    approval: undefined,
    started: undefined,
    // Answered within the reply, by the vendor's own tools; or a second call under one id, which
    // the answer to the first answers too.
    settled:
      answered.has(part.callId) || parts.findIndex((one) => one.callId === part.callId) !== index,
  }));
  const usage = item.usage;
  return {
    ...run,
    calls: [...run.calls, ...parts.map(printOf)].slice(-rememberedCalls),
    contextTokens: usage === undefined ? 0 : usage.inputTokens + usage.outputTokens,
    // Refused as too long right after a compaction: another one would not help.
    compacted: run.compacted !== "no" && isTooLong(item.cause) ? "in_vain" : "no",
    turn: { ...turn, reply: { itemId: item.id, stop: item.stop, cause: item.cause, calls } },
  };
}

/** The sum, with all costs that are known: one that is not must not hide the others from a limit. */
export function addKnown(left: Usage, right: Usage): Usage {
  const { cost: _, ...sum } = addUsage(left, right);
  if (left.cost === undefined && right.cost === undefined) return sum;
  return { ...sum, cost: (left.cost ?? 0) + (right.cost ?? 0) };
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

function withoutInput(standing: Standing, inputId: string): Standing {
  return { ...standing, queue: standing.queue.filter((queued) => queued.inputId !== inputId) };
}

function printOf({ tool, input, raw }: ToolCallPart): CallPrint {
  return { tool, print: digest(`${tool}\n${input === undefined ? raw : inOrder(input)}`) };
}

/** JSON with its keys in one order, so that the order in which a model writes them makes no difference. */
function inOrder(input: JsonObject): string {
  return JSON.stringify(input, (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/**
 * 64 bits of the text by FNV-1a, in two halves. It keeps the state small; what it decides is only
 * whether a model goes round in circles, so it need not withstand an attacker.
 */
function digest(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x1000193;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b);
  }
  return `${(high >>> 0).toString(36)}.${(low >>> 0).toString(36)}`;
}
