import type { Author } from "../content/item.ts";
import { fold } from "../delta/fold.ts";
import type { Delta } from "../delta/delta.ts";
import { defaultDraftLimits } from "../delta/draft.ts";
import type { Draft, DraftLimits, Fault } from "../delta/draft.ts";
import type { Batch } from "../event/batch.ts";
import type { Epoch } from "../event/epoch.ts";
import { schemaVersion } from "../event/event.ts";
import type { LiveEvent } from "../event/event.ts";
import { continueLane, openLane, restateLane } from "../event/lane.ts";
import type { OpenLane } from "../event/state.ts";
import type { CallId, ItemId, PartId, RunId, SessionId, SessionUid, TurnId } from "../ids.ts";
import type { Clock } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-log.ts";
import { Gathered, sizeOfEvents } from "./gathered.ts";
import { Pace } from "./pace.ts";

export interface LaneWriterOptions {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly turnId: TurnId;
  readonly itemId: ItemId;
  readonly lane: number;
  readonly epoch: Epoch;
  /** The head at which the store opened the lane. */
  readonly head: number;
  readonly author: Author;
  readonly callId?: CallId | undefined;
  readonly tool?: string | undefined;
  readonly model?: string | undefined;
  readonly limits?: DraftLimits | undefined;
  /**
   * How long deltas are gathered before they go out as one batch, while somebody watches. While nobody
   * does it is a second; while the log is slow it is up to 200 ms.
   */
  readonly windowMs?: number | undefined;
  /** Gathered content of this many UTF-16 units or bytes goes out at once. */
  readonly windowSize?: number | undefined;
  /** How long an open lane may be silent before it says where it is. */
  readonly idleMs?: number | undefined;
}

/**
 * The one writer of a lane. It folds what it is given, gathers it, numbers it, and puts it into the
 * log in order, one batch at a time. The first content of each part goes out at once. When the log
 * has lost the lane or a reader asks, it says everything again as one batch from 0. What it writes
 * is not durable: committing the item is, and closes the lane.
 */
export interface LaneWriter {
  /** What has been written so far. */
  readonly draft: () => Draft;
  /** The lane as its readers see it, or will. */
  readonly lane: () => OpenLane;
  /** Takes a delta. An illegal one is not written, and its fault is returned. */
  readonly write: (delta: Delta) => Fault | undefined;
  /** Takes what is not content: progress, a stall, a retry. */
  readonly tell: (
    event: Exclude<LiveEvent, { readonly type: "content_delta" | "attempt_started" }>,
  ) => void;
  /** Settles once the log has all that was taken, or can't take it now, or has fenced the writer. */
  readonly flush: () => Promise<void>;
  /** Aborted when another writer holds the lane. This one is silent from then on. */
  readonly fenced: AbortSignal;
  /** Flushes and stops. */
  readonly close: () => Promise<void>;
}

/** A lane is said anew once this much was said since the last time, or as much as it is long. */
const restateAfter = 8 * 1024;
/**
 * What a batch counts for besides its content. Who joins reads all that was said since the lane was
 * said whole, and small batches cost it as much as their number: without this a reply of 20,000 words
 * would be read in 10,000 pieces.
 */
const envelopeSize = 128;
/** Readers who ask for a lane again and again are answered this often. */
const reseedEveryMs = 1_000;
/** A reason of its own: without one an error is made, which costs more than all the rest of a batch. */
const haste = "haste";

/** Opens a lane for writing. Its deltas are folded here, and batched for the log at its pace. */
export function createLaneWriter(options: LaneWriterOptions): LaneWriter {
  const writer = new Writer(options);
  return {
    draft: () => writer.draft,
    lane: () => writer.lane(),
    write: (delta) => writer.write(delta),
    tell: (event) => writer.take(event, event.type !== "tool_execution_update"),
    flush: () => writer.flush(),
    fenced: writer.fenced.signal,
    close: () => writer.close(),
  };
}

class Writer {
  readonly fenced = new AbortController();
  /** The draft is kept apart from the rest of the lane: it changes with each delta. */
  draft: Draft;
  #lane: OpenLane;
  readonly #options: LaneWriterOptions;
  readonly #envelope: Omit<Batch, "first" | "last" | "time" | "events">;
  readonly #stop = new AbortController();
  /** Parts that have begun and whose first content has not gone out. */
  readonly #fresh = new Set<PartId>();
  readonly #running: Promise<unknown>;
  readonly #pending: Gathered;
  #seq = -1;
  /** What was said since the lane was last said whole, and how long that was. */
  #tailSize = 0;
  #wholeSize = 0;
  #urgent = true;
  #reseed = false;
  #answeredAt = -Infinity;
  #saidAt: number;
  readonly #pace: Pace;
  /** Waits for something to write. */
  #bell: PromiseWithResolvers<void> | undefined;
  /** Cuts a rest short. Made anew only once it was used: most rests are not cut short. */
  #haste = new AbortController();
  #resting = false;
  #flushed: (() => void)[] = [];

  constructor(options: LaneWriterOptions) {
    const opening = openingOf(options);
    this.#options = options;
    this.#envelope = envelopeOf(options);
    this.#pending = new Gathered(opening);
    this.#pace = new Pace(options.windowMs ?? 50);
    this.#saidAt = options.clock.now();
    const batch = {
      ...this.#envelope,
      first: 0,
      last: 0,
      time: this.#saidAt,
      events: [opening],
    };
    // The batch begins with its opening, so there is a lane.
    this.#lane = openLane(batch, options.limits ?? defaultDraftLimits) as OpenLane;
    this.draft = this.#lane.draft;
    // Without nudges readers wait for the next time that the lane is said whole.
    const listening = this.#listen().catch(() => undefined);
    this.#running = Promise.all([this.#run(), this.#watchSilence(), listening]);
  }

  write(given: Delta): Fault | undefined {
    // The caller may reuse its buffer before the batch goes out.
    const delta = given.op === "append_bytes" ? { ...given, chunk: given.chunk.slice() } : given;
    const { op, partId } = delta;
    const fresh = this.#fresh.size > 0 && this.#fresh.has(partId);
    const now = op === "begin_part" || op === "commit_part" || fresh;
    if (this.#silent()) return undefined;
    const draft = fold(this.draft, delta);
    if (draft.fault !== undefined) return draft.fault;
    this.draft = draft;
    if (this.#lane.stalledMs !== undefined) this.#lane = { ...this.#lane, stalledMs: undefined };
    this.#pending.addDelta(delta);
    this.#wake(now);
    if (op === "begin_part") this.#fresh.add(partId);
    else if (fresh) this.#fresh.delete(partId);
    return undefined;
  }

  /** Takes what is not content. `now`: somebody is waiting to see this. */
  take(event: LiveEvent, now: boolean): void {
    if (this.#silent()) return;
    this.#lane = continueLane(this.#lane, [event]);
    this.#pending.addEvent(event);
    this.#wake(now);
  }

  lane(): OpenLane {
    return { ...this.#lane, draft: this.draft };
  }

  #silent(): boolean {
    return this.#stop.signal.aborted || this.fenced.signal.aborted;
  }

  /** Sends what was gathered: at once if it is urgent or long, else when its window ends. */
  #wake(now: boolean): void {
    if (now || this.#pending.size >= (this.#options.windowSize ?? 4_096)) this.#hurry();
    else this.#ring();
  }

  async flush(): Promise<void> {
    if (this.fenced.signal.aborted || this.#stop.signal.aborted) return;
    const flushed = new Promise<void>((resolve) => this.#flushed.push(resolve));
    this.#hurry();
    await flushed;
  }

  async close(): Promise<void> {
    await this.flush();
    this.#stop.abort();
    this.#hurry();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#over()) {
      if (this.#pending.isEmpty && !this.#reseed) {
        this.#settle();
        this.#urgent = false;
        this.#bell ??= Promise.withResolvers();
        await this.#bell.promise;
        continue;
      }
      if (!this.#urgent) await this.#rest(this.#pace.windowMs());
      await this.#send();
    }
    this.#stop.abort();
    this.#settle();
  }

  /** A lane that has said nothing for long says where it is. One timer in all that time, not one for each batch. */
  async #watchSilence(): Promise<void> {
    const { clock, idleMs = 15_000 } = this.#options;
    while (!this.#silent()) {
      const waitMs = this.#saidAt + idleMs - clock.now();
      await clock.sleep(Math.max(1, waitMs), this.#stop.signal);
      if (this.#silent() || clock.now() - this.#saidAt < idleMs) continue;
      this.#saidAt = clock.now();
      if (!this.#pending.isEmpty) continue;
      this.#pending.addEvent({ type: "lane_idled" });
      this.#hurry();
    }
  }

  async #listen(): Promise<void> {
    const { log, uid, lane, clock } = this.#options;
    for await (const nudge of await log.nudges(uid, { signal: this.#stop.signal })) {
      if (nudge.kind === "wake" && this.#pace.woken()) this.#hurry();
      if (nudge.kind !== "reseed" || nudge.lane !== lane) continue;
      if (clock.now() - this.#answeredAt < reseedEveryMs) continue;
      this.#answeredAt = clock.now();
      this.#reseed = true;
      this.#hurry();
    }
  }

  async #send(): Promise<void> {
    const { log, uid, epoch, clock } = this.#options;
    const batch = this.#nextBatch();
    this.#urgent = false;
    const answer = await log.append(uid, batch).catch(() => undefined);
    const stored = answer?.outcome === "stored";
    this.#pace.answered(clock.now() - this.#saidAt, stored ? answer.watched : undefined);
    if (answer?.outcome === "refused" && answer.last.epoch > epoch) this.fenced.abort();
    // Lost, or nobody knows: everything again, which is right in both cases.
    const lost = answer === undefined || answer.outcome === "absent";
    this.#reseed ||= lost || this.#tailSize >= Math.max(restateAfter, this.#wholeSize);
    this.#urgent ||= this.#reseed; // whoever lacks the lane should not wait for a window
    if (answer !== undefined) return;
    this.#settle();
    if (this.#stop.signal.aborted) this.#reseed = false; // the item is in the store; the log can do without
    else await this.#rest(reseedEveryMs);
  }

  #nextBatch(): Batch {
    const first = this.#reseed ? 0 : this.#seq + 1;
    const events = this.#pending.takeAll();
    // Said whole, the lane takes one number for all that was waiting.
    this.#seq += this.#reseed ? 1 : events.length;
    this.#saidAt = this.#options.clock.now();
    this.#lane = { ...this.#lane, seq: this.#seq, time: this.#saidAt };
    const batch = this.#reseed
      ? restateLane(this.lane(), this.#options)
      : { ...this.#envelope, first, last: this.#seq, time: this.#lane.time, events };
    const size = envelopeSize + sizeOfEvents(batch.events);
    this.#tailSize = first === 0 ? 0 : this.#tailSize + size;
    if (first === 0) this.#wholeSize = size;
    this.#reseed = false;
    return batch;
  }

  #over(): boolean {
    const done = this.#pending.isEmpty && !this.#reseed;
    return this.fenced.signal.aborted || (this.#stop.signal.aborted && done);
  }

  #hurry(): void {
    this.#urgent = true;
    this.#ring();
    if (this.#resting) this.#haste.abort(haste);
  }

  #ring(): void {
    this.#bell?.resolve();
    this.#bell = undefined;
  }

  async #rest(ms: number): Promise<void> {
    if (this.#stop.signal.aborted) return;
    if (this.#haste.signal.aborted) this.#haste = new AbortController();
    this.#resting = true;
    await this.#options.clock.sleep(ms, this.#haste.signal);
    this.#resting = false;
  }

  #settle(): void {
    for (const done of this.#flushed) done();
    this.#flushed = [];
  }
}

function openingOf({ author, callId, tool, model }: LaneWriterOptions): LiveEvent {
  return {
    type: "attempt_started",
    author,
    ...(callId === undefined ? {} : { callId }),
    ...(tool === undefined ? {} : { tool }),
    ...(model === undefined ? {} : { model }),
  };
}

function envelopeOf(options: LaneWriterOptions): Omit<Batch, "first" | "last" | "time" | "events"> {
  const { sessionId, runId, turnId, itemId, lane, epoch, head } = options;
  return { v: schemaVersion, sessionId, runId, turnId, itemId, lane, epoch, head };
}
