import { addUsage, noUsage } from "../content/usage.ts";
import type { CallId, InputId } from "../ids.ts";
import { lastEpochBefore } from "./epoch.ts";
import type { Epoch } from "./epoch.ts";
import type { Fact, FactOf } from "./event.ts";
import { closedEpoch } from "./state.ts";
import type { SessionState } from "./state.ts";
import { withoutUndone } from "./undone.ts";

/**
 * The state after a fact. Does not check the order: `apply` has checked that before. Facts of
 * a newer version count, and change nothing.
 */
export function reduceFact(state: SessionState, fact: Fact): SessionState {
  switch (fact.type) {
    case "session_claimed":
      return {
        ...closeAll(state, lastEpochBefore(fact.incarnation)),
        incarnation: fact.incarnation,
      };
    case "input_accepted": {
      const { input, inputId } = fact;
      if (input.kind !== "abort") return { ...state, queue: [...state.queue, { inputId, input }] };
      const { run } = state;
      const meant = run !== undefined && (input.runId ?? run.runId) === run.runId;
      return meant ? { ...state, run: { ...run, aborting: true } } : state;
    }
    case "queue_updated":
      return { ...state, queue: without(state, fact.inputId) };
    case "run_started":
      return {
        ...state,
        run: { runId: fact.runId, aborting: false },
        ended: undefined,
        approvals: [],
      };
    case "run_finished": {
      const closed = closeAll(state, fact.closes);
      return {
        ...closed,
        run: undefined,
        ended: fact,
        executions: [],
        approvals: [],
        compacting: false,
      };
    }
    case "session_released":
      if (state.run === undefined) return state;
      return { ...state, run: { ...state.run, released: fact.incarnation } };
    case "turn_started":
      if (state.run === undefined) return state;
      return { ...state, run: { ...state.run, turn: { turnId: fact.turnId } } };
    case "turn_finished": {
      const closed = closeAll(state, fact.closes);
      if (state.run === undefined) return closed;
      const turn = { ...state.run.turn, turnId: fact.turnId, stop: fact.stop };
      return { ...closed, run: { ...state.run, turn } };
    }
    case "item_committed":
    case "item_replaced":
      return storeItem(closeLane(state, fact.lane, fact.epoch), fact);
    case "approval_requested":
      return { ...state, approvals: [...state.approvals, { asked: fact }] };
    case "approval_resolved": {
      // Answered once: a second answer is a fact too, and changes nothing.
      const approvals = state.approvals.map((approval) =>
        approval.asked.approvalId === fact.approvalId && approval.answer === undefined
          ? { asked: approval.asked, answer: fact }
          : approval,
      );
      return { ...state, approvals };
    }
    case "tool_execution_started":
      return { ...state, executions: [...withoutCall(state, fact.callId), fact] };
    case "tool_execution_finished":
      return { ...state, executions: withoutCall(state, fact.callId) };
    case "compaction_started":
      return { ...state, compacting: true };
    case "compaction_finished": {
      const compactions =
        fact.summary === undefined ? state.compactions : [...state.compactions, fact.summary];
      return { ...state, compacting: false, compactions };
    }
    case "usage_reported":
      return { ...state, usage: addUsage(state.usage, fact.usage) };
    case "opaque":
      return state;
    default:
      fact satisfies never;
      return state;
  }
}

/**
 * The state after all facts of a session, from the first one. Unlike `apply` this has the whole past
 * at hand, so it can undo what an operator's reset undoes.
 */
export function replay(empty: SessionState, facts: readonly Fact[]): SessionState {
  const state = withoutUndone(facts).reduce<SessionState>(reduceFact, empty);
  // What an undone attempt used was used all the same.
  const usage = facts.reduce(
    (sum, fact) => (fact.type === "usage_reported" ? addUsage(sum, fact.usage) : sum),
    noUsage,
  );
  return { ...state, usage, head: facts.length };
}

function closeLane(
  state: SessionState,
  lane: number | undefined,
  epoch: Epoch | undefined,
): SessionState {
  if (lane === undefined || epoch === undefined) return state;
  const others = state.closedLanes.filter((closed) => closed.lane !== lane);
  const raised = { lane, epoch: Math.max(epoch, closedEpoch(state, lane)) };
  return settleLanes({ ...state, closedLanes: [...others, raised] });
}

function closeAll(state: SessionState, epoch: Epoch): SessionState {
  return settleLanes({ ...state, closed: Math.max(state.closed, epoch) });
}

/** Keeps the closed lanes few and in one order, and drops the drafts that are over. */
function settleLanes(state: SessionState): SessionState {
  return {
    ...state,
    closedLanes: state.closedLanes
      .filter((closed) => closed.epoch > state.closed)
      .toSorted((left, right) => left.lane - right.lane),
    lanes: state.lanes.filter((open) => open.epoch > closedEpoch(state, open.lane)),
  };
}

/** A replacement takes the place of its item, if that is there; else it is one more item. */
function storeItem(
  state: SessionState,
  fact: FactOf<"item_committed" | "item_replaced">,
): SessionState {
  const queue = fact.inputId === undefined ? state.queue : without(state, fact.inputId);
  const place =
    fact.type === "item_replaced"
      ? state.items.findLastIndex((item) => item.id === fact.item.id)
      : -1;
  const items = place < 0 ? state.items.append(fact.item) : state.items.with(place, fact.item);
  return { ...state, items, queue, run: withReply(state.run, fact) };
}

/** Remembers which item is the reply of the turn under way. */
function withReply(
  run: SessionState["run"],
  { item, turnId }: FactOf<"item_committed" | "item_replaced">,
): SessionState["run"] {
  if (run?.turn === undefined || run.turn.turnId !== turnId || item.author !== "model") return run;
  return { ...run, turn: { ...run.turn, reply: item.id } };
}

function withoutCall(state: SessionState, callId: CallId): SessionState["executions"] {
  return state.executions.filter((execution) => execution.callId !== callId);
}

function without(state: SessionState, inputId: InputId): SessionState["queue"] {
  return state.queue.filter((queued) => queued.inputId !== inputId);
}
