import { packEpoch } from "@millrace/core/ports";
import type { Batch, Epoch, EventLog } from "@millrace/core/ports";
import type { EpochSeq } from "@millrace/core/store-kit";
import {
  callId,
  itemId,
  partId,
  runId,
  sessionId,
  sessionUid,
  turnId,
} from "@millrace/core/writing";
import type { Fact, LiveEvent, SessionUid } from "@millrace/core";
import { assertEqual, assertOutcome } from "./case.ts";
import type { Case } from "./case.ts";
import { withKeys } from "./with-keys.ts";

/** What an EventLog must provide for the cases. */
export interface EventLogFixture {
  readonly open: (options?: OpenEventLogOptions) => Promise<OpenedEventLog>;
}

/** The bounds that a case asks of its log. */
export interface OpenEventLogOptions {
  /**
   * The number of batches that a lane must keep. It may keep more, but must not grow without limit.
   */
  readonly batchesPerLane?: number | undefined;
}

/** A log under test. Disposed of when its case is over. */
export interface OpenedEventLog extends AsyncDisposable {
  readonly log: EventLog;
}

/** A log that can lose data on demand, as a real one does by accident. */
export interface LosableEventLogFixture {
  readonly open: (options?: OpenEventLogOptions) => Promise<LosableEventLog>;
}

/** A log under test that can be made to lose what it holds. */
export interface LosableEventLog extends OpenedEventLog {
  /** Drops the data of a session, or of one of its lanes. */
  readonly lose: (uid: SessionUid, lane?: number) => Promise<void>;
}

/** A case with a log and a session of its own. */
export function logCase(
  name: string,
  run: (log: EventLog, uid: SessionUid) => Promise<void>,
  options?: OpenEventLogOptions,
): Case<EventLogFixture> {
  return {
    name,
    run: async (fixture) => {
      await using opened = await fixture.open(options);
      await run(withKeys(opened.log), newUid());
    },
  };
}

/** A new uid for each case, because real engines keep the data of earlier ones. */
export function newUid(): SessionUid {
  return sessionUid(`conformance_${crypto.randomUUID()}`);
}

/** The epoch of a generation, in the session's first incarnation. */
export function epochOf(generation: number, attempt = 1): Epoch {
  return packEpoch({ incarnation: 1, generation, attempt });
}

export interface BatchPlace {
  readonly epoch: Epoch;
  readonly first: number;
  readonly last?: number | undefined;
  readonly lane?: number | undefined;
  readonly events?: readonly LiveEvent[] | undefined;
}

/** A legal batch whose events contain their position, so that mixed content is detected. */
export function batchAt({ epoch, first, last = first, lane = 0, events }: BatchPlace): Batch {
  return {
    v: 1,
    sessionId: sessionId("conformance"),
    runId: runId("run_1"),
    turnId: turnId("turn_1"),
    itemId: itemId(`item_${lane}`),
    lane,
    epoch,
    first,
    last,
    head: 3,
    time: 1_700_000_000_000 + last,
    events: events ?? eventsAt({ epoch, first, last, lane }),
  };
}

function eventsAt({ epoch, first, last = first, lane }: BatchPlace): readonly LiveEvent[] {
  const part = partId("part_1");
  const appendAt = (seq: number): LiveEvent => ({
    type: "content_delta",
    delta: { op: "append_text", partId: part, chunk: `${lane}:${epoch}:${seq} ` },
  });
  if (first > 0) return Array.from({ length: last - first + 1 }, (_, at) => appendAt(first + at));
  return [
    { type: "attempt_started", author: "model", model: "scripted/one" },
    { type: "content_delta", delta: { op: "begin_part", partId: part, kind: "text" } },
    appendAt(last),
  ];
}

/** Appends batches in order. Each must be stored. */
export async function store(
  log: EventLog,
  uid: SessionUid,
  batches: readonly Batch[],
): Promise<void> {
  for (const batch of batches) {
    const answer = await log.append(uid, batch);
    assertOutcome(answer, "stored", `the append of ${nameOf(batch)}`);
  }
}

/** An opening and the single events after it, up to and including `last`. */
export function laneOf(epoch: Epoch, last: number, lane = 0): readonly Batch[] {
  return Array.from({ length: last + 1 }, (_, seq) => batchAt({ epoch, first: seq, lane }));
}

export async function assertRefused(
  log: EventLog,
  uid: SessionUid,
  batch: Batch,
  last: EpochSeq,
): Promise<void> {
  const answer = assertOutcome(
    await log.append(uid, batch),
    "refused",
    `the append of ${nameOf(batch)}`,
  );
  assertEqual(answer.last, last, "the last position in the refusal");
}

/** Compares what a lane holds after a position. */
export async function assertHeld(
  log: EventLog,
  uid: SessionUid,
  expected: readonly Batch[],
  { lane = 0, after }: { readonly lane?: number; readonly after?: EpochSeq } = {},
): Promise<void> {
  const held = await log.read(uid, lane, after);
  const place =
    after === undefined ? "the whole lane" : `the lane after ${after.epoch}-${after.seq}`;
  assertEqual(held.map(nameOf), expected.map(nameOf), place);
  assertEqual(held, expected, place);
}

export function nameOf(batch: Batch): string {
  return `lane ${batch.lane} ${batch.epoch}-${batch.first}..${batch.last}`;
}

export function factAt(n: number): Fact {
  return {
    v: 1,
    n,
    sessionId: sessionId("conformance"),
    time: 1_700_000_000_000 + n,
    type: "tool_execution_finished",
    runId: runId("run_1"),
    turnId: turnId("turn_1"),
    callId: callId(`call_${n}`),
    tool: "search",
    status: "ok",
  };
}
