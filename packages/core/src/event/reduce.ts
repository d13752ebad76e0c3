import { addUsage, noUsage } from "../content/usage.ts";
import type { CallId, InputId } from "../ids.ts";
import { lastEpochBefore } from "./epoch.ts";
import type { Epoch } from "./epoch.ts";
import type { Fact, FactOf } from "./event.ts";
import { closedEpoch } from "./state.ts";
import type { OpenRun, SessionState } from "./state.ts";
import { withoutUndone } from "./undone.ts";

/** Facts for the agent and its developer, which change nothing that a viewer sees of the session. */
type WithoutState =
  | "guidance_set"
  | "reasoning_dropped"
  | "part_left_out"
  | "prefix_broken"
  | "notice"
  | "opaque";

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
      const { input, inputId, trace } = fact;
      if (input.kind !== "abort") {
        const queued = trace === undefined ? { inputId, input } : { inputId, input, trace };
        return { ...state, queue: [...state.queue, queued] };
      }
      const meant = (input.runId ?? state.run?.runId) === state.run?.runId;
      return meant ? inRun(state, { aborting: true }) : state;
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
      return inRun(state, { released: fact.incarnation });
    case "turn_started":
      return inRun(state, { turn: { turnId: fact.turnId } });
    case "turn_finished":
      return inRun(closeAll(state, fact.closes), {
        turn: { ...state.run?.turn, turnId: fact.turnId, stop: fact.stop },
      });
    case "item_committed":
    case "item_replaced":
      return storeItem(closeLane(state, fact.lane, fact.epoch), fact);
    case "approval_requested":
      return { ...state, approvals: [...state.approvals, { asked: fact }] };
    case "approval_resolved": {
      // Answered once: a second answer is a fact too, and changes nothing.
      const approvals = state.approvals.map((approval) =>
        approval.asked.approvalId === fact.approvalId ? { answer: fact, ...approval } : approval,
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
    default:
      fact satisfies FactOf<WithoutState>;
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
  const closedLanes = state.closedLanes
    .filter((closed) => closed.epoch > state.closed)
    .toSorted((left, right) => left.lane - right.lane);
  const lanes = state.lanes.filter(({ lane, epoch }) => epoch > closedEpoch(state, lane));
  return { ...state, closedLanes, lanes };
}

/**
 * A replacement takes the place of its item, if that is there; else it is one more item. A committed item
 * that is exchanged, by no lane, may be among those that the state leaves out: then nothing changes.
 */
function storeItem(
  state: SessionState,
  fact: FactOf<"item_committed" | "item_replaced">,
): SessionState {
  const queue = fact.inputId === undefined ? state.queue : without(state, fact.inputId);
  const { item, lane } = fact;
  const replaces = fact.type === "item_replaced";
  const place = replaces ? state.items.findLastIndex(({ id }) => id === item.id) : -1;
  const isLeftOut = replaces && lane === undefined && state.earlier !== undefined;
  const items =
    place >= 0 ? state.items.with(place, item) : isLeftOut ? state.items : state.items.append(item);
  const turn = state.run?.turn;
  // The reply of the turn under way.
  const replies = turn !== undefined && turn.turnId === fact.turnId && item.author === "model";
  const stored = { ...state, items, queue };
  return replies ? inRun(stored, { turn: { ...turn, reply: item.id } }) : stored;
}

/** The state with this changed of the run that is on. */
function inRun(state: SessionState, change: Partial<OpenRun>): SessionState {
  return state.run === undefined ? state : { ...state, run: { ...state.run, ...change } };
}

function withoutCall(state: SessionState, callId: CallId): SessionState["executions"] {
  return state.executions.filter((execution) => execution.callId !== callId);
}

function without(state: SessionState, inputId: InputId): SessionState["queue"] {
  return state.queue.filter((queued) => queued.inputId !== inputId);
}
