import { closedEpoch, cursorOf, findLane, isAfter, restateLane, snapshot } from "@millrace/core";
import type {
  Batch,
  Cursor,
  Fact,
  Followed,
  LanePosition,
  OpenLane,
  SessionState,
} from "@millrace/core";
import type { Ring } from "./ring.ts";

/** More batches than this cost a viewer more than its lane said anew. */
const batchesAtMost = 64;

/** What a hub holds of a session, from which it can bring anybody to its state. */
export interface Held {
  readonly state: SessionState;
  /** The last facts, without a gap up to the head. */
  readonly facts: readonly Fact[];
  readonly ring: Ring;
}

/** What a viewer is told next, and whether it is then where the hub is. */
export interface Welcome {
  readonly told: readonly Followed[];
  readonly whole: boolean;
}

/**
 * What brings a viewer from its cursor to the hub's state. What it lacks, if the hub still has that:
 * facts first, then each lane, by its last batches or said anew. Else a snapshot. At most `limit`
 * facts at a time, so that what waits for one viewer is bounded.
 */
export function welcome(held: Held, cursor: Cursor | undefined, limit: number): Welcome {
  const { state, facts } = held;
  const first = state.head - facts.length;
  if (
    cursor === undefined ||
    cursor.uid !== state.uid ||
    cursor.head > state.head ||
    cursor.head < first
  )
    return everything(state);
  const lacking = facts.slice(cursor.head - first);
  const undone = lacking.some((fact) => fact.type === "session_claimed" && fact.to !== undefined);
  if (undone) return everything(state);
  const told: Followed[] = lacking.slice(0, limit).map((fact) => ({
    message: fact,
    cursor: { ...cursor, head: fact.n },
  }));
  if (lacking.length > limit) return { told, whole: false };
  return { told: [...told, ...laneNews(held, cursor)], whole: true };
}

/** True if the cursor was given out by a hub that knew more of the session than this state does. */
export function isAhead(cursor: Cursor, state: SessionState): boolean {
  if (cursor.uid !== state.uid) return false;
  if (cursor.head > state.head) return true;
  return cursor.lanes.some(({ lane, epoch, seq }) => {
    const open = findLane(state, lane);
    if (epoch <= closedEpoch(state, lane)) return false;
    return open === undefined || isAfter({ epoch, seq }, open.epoch, open.seq);
  });
}

/** Each cursor says only what has been told by then: the viewer may be cut off after any of these. */
function laneNews({ state, ring }: Held, cursor: Cursor): readonly Followed[] {
  const told: Followed[] = [];
  const positions = new Map<number, LanePosition>();
  for (const position of cursor.lanes)
    if (findLane(state, position.lane)?.epoch === position.epoch)
      positions.set(position.lane, position);
  for (const open of state.lanes) {
    const { lane, epoch, seq } = open;
    const mine = positions.get(lane);
    // A position after the lane's end is a lie or of a lane that was lost. Said anew it harms nobody.
    if (mine?.seq === seq) continue;
    for (const batch of lastBatches(ring, open, mine) ?? [restated(open, state)]) {
      positions.set(lane, { lane, epoch, seq: batch.last });
      const lanes = [...positions.values()].toSorted((left, right) => left.lane - right.lane);
      told.push({ message: batch, cursor: { uid: state.uid, head: state.head, lanes } });
    }
  }
  return told;
}

/** The batches between a viewer and the end of a lane, or nothing if they are gone or too many. */
function lastBatches(
  ring: Ring,
  open: OpenLane,
  mine: LanePosition | undefined,
): readonly Batch[] | undefined {
  if (mine === undefined || mine.seq > open.seq) return undefined;
  const batches: Batch[] = [];
  for (const { message } of ring) {
    if (!("last" in message) || message.lane !== open.lane) continue;
    if (message.epoch === open.epoch && message.last > mine.seq) batches.push(message);
  }
  const first = batches[0]?.first;
  const joins = first === 0 || first === mine.seq + 1;
  return joins && batches.at(-1)?.last === open.seq && batches.length <= batchesAtMost
    ? batches
    : undefined;
}

/** A crowd that joins at one moment shares one snapshot and one batch for each lane. */
const snapshots = new WeakMap<SessionState, Welcome>();
const batches = new WeakMap<OpenLane, Batch>();

function everything(state: SessionState): Welcome {
  const known = snapshots.get(state);
  if (known !== undefined) return known;
  const made = { told: [{ message: snapshot(state), cursor: cursorOf(state) }], whole: true };
  snapshots.set(state, made);
  return made;
}

/** The head in it may be older than the state's: a viewer has had those facts all the same. */
function restated(open: OpenLane, state: SessionState): Batch {
  const known = batches.get(open);
  if (known !== undefined) return known;
  const made = restateLane(open, state);
  batches.set(open, made);
  return made;
}
