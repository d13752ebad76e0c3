import type { Author, Cause, Item, StopReason } from "../content/item.ts";
import { noUsage } from "../content/usage.ts";
import type { Usage } from "../content/usage.ts";
import type { Draft } from "../delta/draft.ts";
import type { CallId, InputId, ItemId, RunId, SessionId, SessionUid, TurnId } from "../ids.ts";
import { List } from "../list.ts";
import type { Epoch } from "./epoch.ts";
import type { FactOf, Input, TraceContext } from "./event.ts";

/**
 * All that a reader knows of a session at one point: what facts have made of it, and the drafts of
 * its open lanes. Writer, hub, browser, terminal and inspector hold this same value and change it by
 * `apply` alone. `project` turns it into what a screen shows.
 */
export interface SessionState {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** The number of the last fact applied. */
  readonly head: number;
  readonly incarnation: number;
  /** Every lane is closed up to and including this epoch. */
  readonly closed: Epoch;
  /** Lanes that are closed further than that. Sorted by lane. */
  readonly closedLanes: readonly ClosedLane[];
  /** Lanes with an item being written. Sorted by lane. */
  readonly lanes: readonly OpenLane[];
  readonly items: List<Item>;
  /** Items that this state leaves out, all of them before its first. Left out: it has every item. */
  readonly earlier?: Earlier;
  /** Accepted, and neither an item yet nor taken back. In the order of acceptance. */
  readonly queue: readonly QueuedInput[];
  readonly run: OpenRun | undefined;
  /** How the last run ended. */
  readonly ended: FactOf<"run_finished"> | undefined;
  /** Tools that were started and have not been settled. */
  readonly executions: readonly FactOf<"tool_execution_started">[];
  /** Questions of the current run, with their answers. */
  readonly approvals: readonly Approval[];
  readonly compacting: boolean;
  readonly compactions: readonly Compaction[];
  readonly usage: Usage;
}

/** The items that a state or a page leaves out: how many, and the number of a fact behind all of theirs. */
export interface Earlier {
  readonly count: number;
  /** The facts of these items are below this number; those of the items that are there are not. */
  readonly before: number;
}

/** A lane, and the epoch up to which its writers are over. */
export interface ClosedLane {
  readonly lane: number;
  readonly epoch: Epoch;
}

/** A lane with an item being written, and the draft of it. */
export interface OpenLane {
  readonly lane: number;
  readonly epoch: Epoch;
  readonly seq: number;
  /** When its writer last wrote, by its clock. */
  readonly time: number;
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly author: Author;
  readonly callId: CallId | undefined;
  readonly tool: string | undefined;
  readonly model: string | undefined;
  readonly draft: Draft;
  /** The latest progress that a tool reported. */
  readonly message: string | undefined;
  /** Set while nothing moves; cleared by the next content. */
  readonly stalledMs: number | undefined;
  readonly retry: { readonly cause: Cause; readonly delayMs: number } | undefined;
}

export interface QueuedInput {
  readonly inputId: InputId;
  readonly input: Exclude<Input, { readonly kind: "abort" }>;
  readonly trace?: TraceContext;
}

export interface OpenRun {
  readonly runId: RunId;
  readonly turn?: OpenTurn;
  /** A stop was asked for and has not taken effect yet. */
  readonly aborting: boolean;
  /** The incarnation whose driver has shut down. A later one goes on with the run. */
  readonly released?: number;
}

export interface OpenTurn {
  readonly turnId: TurnId;
  /** The model's item of this turn, once it is there. */
  readonly reply?: ItemId;
  /** Set once the turn is finished. */
  readonly stop?: StopReason;
}

export interface Approval {
  readonly asked: FactOf<"approval_requested">;
  readonly answer?: FactOf<"approval_resolved">;
}

/** A summary, and the items from `first` to `last` that it stands for in requests. */
export interface Compaction {
  readonly itemId: ItemId;
  readonly first: ItemId;
  readonly last: ItemId;
}

/** A session before its first fact. */
export function emptyState(uid: SessionUid, sessionId: SessionId): SessionState {
  return {
    uid,
    sessionId,
    head: 0,
    incarnation: 0,
    closed: 0,
    closedLanes: [],
    lanes: [],
    items: List.of(),
    queue: [],
    run: undefined,
    ended: undefined,
    executions: [],
    approvals: [],
    compacting: false,
    compactions: [],
    usage: noUsage,
  };
}

/** The lane of this number, if it is open. */
export function findLane(state: SessionState, lane: number): OpenLane | undefined {
  return state.lanes.find((open) => open.lane === lane);
}

/** The epoch up to which this lane is closed. Writers at or below it are over. */
export function closedEpoch(
  { closed, closedLanes }: Pick<SessionState, "closed" | "closedLanes">,
  lane: number,
): Epoch {
  return Math.max(closed, closedLanes.find((own) => own.lane === lane)?.epoch ?? 0);
}
