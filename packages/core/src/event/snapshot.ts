import type { Item } from "../content/item.ts";
import type { Usage } from "../content/usage.ts";
import type { SessionId, SessionUid } from "../ids.ts";
import { List } from "../list.ts";
import { apply } from "./apply.ts";
import type { Batch } from "./batch.ts";
import type { Epoch } from "./epoch.ts";
import { schemaVersion } from "./event.ts";
import type { FactOf } from "./event.ts";
import { restateLane } from "./lane.ts";
import type {
  OpenRun,
  Approval,
  ClosedLane,
  Compaction,
  Earlier,
  QueuedInput,
  SessionState,
} from "./state.ts";

/**
 * The state at one cursor as plain data, to be sent or stored. A reader that restores it and applies
 * what follows has the state of one that applied everything. It costs a few records for each part,
 * however many deltas made it.
 */
export interface Snapshot {
  readonly v: typeof schemaVersion;
  readonly sessionId: SessionId;
  readonly uid: SessionUid;
  readonly head: number;
  readonly incarnation: number;
  readonly closed: Epoch;
  readonly closedLanes: readonly ClosedLane[];
  /** One batch from 0 for each open lane. */
  readonly lanes: readonly Batch[];
  readonly items: readonly Item[];
  readonly earlier?: Earlier;
  readonly queue: readonly QueuedInput[];
  readonly run?: OpenRun;
  readonly ended?: FactOf<"run_finished">;
  readonly executions: readonly FactOf<"tool_execution_started">[];
  readonly approvals: readonly Approval[];
  readonly compacting: boolean;
  readonly compactions: readonly Compaction[];
  readonly usage: Usage;
}

/** The state as data, for a reader that begins here. `restore` is its inverse. */
export function snapshot(state: SessionState): Snapshot {
  const { lanes, items, run, ended, ...plain } = state;
  return {
    v: schemaVersion,
    ...plain,
    lanes: lanes.map((lane) => restateLane(lane, state)),
    items: items.toArray(),
    ...(run === undefined ? {} : { run }),
    ...(ended === undefined ? {} : { ended }),
  };
}

/** The reader's state at the snapshot's cursor. */
export function restore(taken: Snapshot): SessionState {
  const { v: _, lanes, items, run, ended, ...plain } = taken;
  const state: SessionState = { ...plain, lanes: [], items: List.of(items), run, ended };
  return lanes.reduce<SessionState>((current, batch) => apply(current, batch).state, state);
}
