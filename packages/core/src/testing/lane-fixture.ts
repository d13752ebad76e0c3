import { afterEach } from "vitest";
import type { Delta } from "../delta/delta.ts";
import { apply } from "../event/apply.ts";
import type { Batch } from "../event/batch.ts";
import { packEpoch } from "../event/epoch.ts";
import type { Epoch } from "../event/epoch.ts";
import { emptyState, findLane } from "../event/state.ts";
import { itemId, partId, runId, sessionId, sessionUid, turnId } from "../ids.ts";
import type { PartId, SessionId, SessionUid } from "../ids.ts";
import { createLaneWriter } from "../lane/lane-writer.ts";
import type { LaneWriter, LaneWriterOptions } from "../lane/writer-types.ts";
import type { EventLog } from "../ports/event-log.ts";
import { manualClock } from "../reference/manual-clock.ts";
import type { ManualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import type { MemoryEventLog } from "../reference/memory-event-log.ts";
import { content } from "./delta-programs.ts";

export const uid: SessionUid = sessionUid("u");
export const session: SessionId = sessionId("s");
export const id: PartId = partId("p1");
export const begin: Delta = { op: "begin_part", partId: id, kind: "text" };
const open: LaneWriter[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((writer) => writer.close()));
});

export function append(chunk: string): Delta {
  return { op: "append_text", partId: id, chunk };
}

export interface LaneFixtureOptions extends Partial<LaneWriterOptions> {
  readonly attempt?: number;
  /** Whether the lane is watched from the beginning. */
  readonly watched?: boolean;
  /** Changes the log as the writer has it. */
  readonly through?: (log: EventLog, clock: ManualClock) => EventLog;
}

export interface LaneFixture {
  readonly clock: ManualClock;
  readonly log: MemoryEventLog;
  readonly writer: LaneWriter;
  readonly read: () => Promise<readonly Batch[]>;
  readonly epoch: Epoch;
  /** Counts batches that waited for a window; restatements do not. */
  readonly count: { readonly gathered: number };
}

/** A writer of a lane, by a clock that is moved by hand, and the log that it writes to. */
export function startWriter(more: LaneFixtureOptions = {}): LaneFixture {
  const clock = manualClock();
  // As a log of an engine, which leaves the window to the writer.
  const { window: _, ...held } = memoryEventLog();
  const count = { gathered: 0 };
  const memory: MemoryEventLog = {
    ...held,
    append: (at, batch) => {
      if (batch.first > 0) count.gathered += 1;
      return held.append(at, batch);
    },
  };
  const { attempt = 1, watched = true, through, ...options } = more;
  const { log = through?.(memory, clock) ?? memory } = more;
  if (watched) void memory.tail(uid);
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt });
  const ids = {
    uid,
    sessionId: session,
    runId: runId("r"),
    turnId: turnId("t"),
    itemId: itemId("i"),
  };
  const writer = createLaneWriter({
    clock,
    ...ids,
    lane: 0,
    epoch,
    head: 0,
    author: "model",
    ...options,
    log,
  });
  open.push(writer);
  const read = async (): Promise<readonly Batch[]> => {
    await clock.advance(0);
    return await memory.read(uid, 0);
  };
  return { clock, log: memory, writer, read, epoch, count };
}

/** The content of the lane after a reader applied the batches. */
export function drafted(batches: readonly Batch[]): string {
  const state = batches.reduce(
    (current, batch) => apply(current, batch).state,
    emptyState(uid, session),
  );
  const lane = findLane(state, 0);
  return lane === undefined ? "" : content(lane.draft);
}
