import { isAfter } from "../event/batch.ts";
import type { Batch, LanePosition } from "../event/batch.ts";
import { cursorOf } from "../event/cursor.ts";
import type { Cursor } from "../event/cursor.ts";
import type { Fact } from "../event/event.ts";
import { restateLane } from "../event/lane.ts";
import { snapshot } from "../event/snapshot.ts";
import type { Snapshot } from "../event/snapshot.ts";
import { closedEpoch, findLane } from "../event/state.ts";
import type { OpenLane, SessionState } from "../event/state.ts";

/** One message for a viewer to apply, and its position after that. */
export interface Followed {
  readonly message: Fact | Batch | Snapshot;
  readonly cursor: Cursor;
}

/** What a reader holds of a session, from which a viewer can be brought to its state. */
export interface CatchUpSource {
  readonly state: SessionState;
  /** The state as a viewer that joins is sent it: without its earliest items. Left out: with all. */
  readonly newest?: SessionState | undefined;
  /** The last facts, without a gap up to the head. A viewer that lacks older ones gets a snapshot. */
  readonly facts: readonly Fact[];
  /** The last messages, oldest first. A lane whose batches are not among them is restated. */
  readonly recent: Iterable<Followed>;
}

/** What a viewer applies next, and whether it is then at the reader's state. */
export interface CatchUp {
  readonly messages: readonly Followed[];
  readonly complete: boolean;
}

/** More batches than this cost a viewer more than its lane restated. */
const batchesAtMost = 64;

/**
 * What brings a viewer from its cursor to the reader's state: the facts that it lacks, then each open
 * lane, by its last batches or restated as one. A snapshot instead if facts are no longer held, if a
 * reset undid some of the viewer's, or if the cursor is of another uid or ahead of the state. At most
 * `limit` facts at a time, so that what waits for one viewer is bounded.
 */
export function catchUpFrom(
  source: CatchUpSource,
  cursor: Cursor | undefined,
  limit: number = Infinity,
): CatchUp {
  const { state, facts } = source;
  const first = state.head - facts.length;
  if (
    cursor === undefined ||
    cursor.uid !== state.uid ||
    cursor.head > state.head ||
    cursor.head < first
  )
    return everything(source);
  const lacking = facts.slice(cursor.head - first);
  const undone = lacking.some((fact) => fact.type === "session_claimed" && fact.to !== undefined);
  if (undone) return everything(source);
  const messages: Followed[] = lacking.slice(0, limit).map((fact) => ({
    message: fact,
    cursor: { ...cursor, head: fact.n },
  }));
  if (lacking.length > limit) return { messages, complete: false };
  return { messages: [...messages, ...laneNews(source, cursor)], complete: true };
}

/** True if the cursor was given out by a reader that had read more of the session than this state has. */
export function isAhead(cursor: Cursor, state: SessionState): boolean {
  if (cursor.uid !== state.uid) return false;
  if (cursor.head > state.head) return true;
  return cursor.lanes.some(({ lane, epoch, seq }) => {
    const open = findLane(state, lane);
    if (epoch <= closedEpoch(state, lane)) return false;
    return open === undefined || isAfter({ epoch, seq }, open.epoch, open.seq);
  });
}

/** Each cursor covers only the messages up to it: the viewer may be cut off after any of them. */
function laneNews({ state, recent }: CatchUpSource, cursor: Cursor): readonly Followed[] {
  const news: Followed[] = [];
  const positions = new Map<number, LanePosition>();
  for (const position of cursor.lanes)
    if (findLane(state, position.lane)?.epoch === position.epoch)
      positions.set(position.lane, position);
  for (const open of state.lanes) {
    const { lane, epoch, seq } = open;
    const mine = positions.get(lane);
    // A position after the lane's end is forged, or of a lane that was lost. Restating it is harmless.
    if (mine?.seq === seq) continue;
    for (const batch of lastBatches(recent, open, mine) ?? [restated(open, state)]) {
      positions.set(lane, { lane, epoch, seq: batch.last });
      const lanes = [...positions.values()].toSorted((left, right) => left.lane - right.lane);
      news.push({ message: batch, cursor: { uid: state.uid, head: state.head, lanes } });
    }
  }
  return news;
}

/** The batches between a viewer and the end of a lane, or nothing if they are gone or too many. */
function lastBatches(
  recent: Iterable<Followed>,
  open: OpenLane,
  mine: LanePosition | undefined,
): readonly Batch[] | undefined {
  if (mine === undefined || mine.seq > open.seq) return undefined;
  const batches: Batch[] = [];
  for (const { message } of recent) {
    if (!("last" in message) || message.lane !== open.lane) continue;
    if (message.epoch === open.epoch && message.last > mine.seq) batches.push(message);
  }
  const first = batches[0]?.first;
  const joins = first === 0 || first === mine.seq + 1;
  return joins && batches.at(-1)?.last === open.seq && batches.length <= batchesAtMost
    ? batches
    : undefined;
}

/** Viewers that join at the same state share one snapshot, and one batch for each lane. */
const snapshots = new WeakMap<SessionState, CatchUp>();
const restatements = new WeakMap<OpenLane, Batch>();

function everything({ state, newest = state }: CatchUpSource): CatchUp {
  const known = snapshots.get(newest);
  if (known !== undefined) return known;
  const whole = { message: snapshot(newest), cursor: cursorOf(state) };
  const made = { messages: [whole], complete: true };
  snapshots.set(newest, made);
  return made;
}

/** The head in it may be older than the state's: its viewer has those facts by then. */
function restated(open: OpenLane, state: SessionState): Batch {
  const known = restatements.get(open);
  if (known !== undefined) return known;
  const made = restateLane(open, state);
  restatements.set(open, made);
  return made;
}
