import { fold } from "../delta/fold.ts";
import type { Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import type { Draft, Fault } from "../delta/draft.ts";
import type { Batch } from "../event/batch.ts";
import { schemaVersion } from "../event/event.ts";
import type { LiveEvent } from "../event/event.ts";
import { continueLane, openLane, restateLane } from "../event/lane.ts";
import type { OpenLane } from "../event/state.ts";
import type { PartId } from "../ids.ts";
import type { AppendOutcome, Nudge } from "../ports/event-log.ts";
import { systemRandom } from "../ports/clock.ts";
import { endlessPause } from "../ports/retry.ts";
import { Gathered, sizeOfEvents } from "./gathered.ts";
import { Load, defaultWindow } from "./load.ts";
import type { LaneWriter, LaneWriterOptions } from "./writer-types.ts";
import { Pace } from "./pace.ts";
import type { PaceBounds } from "./pace.ts";
import { SharedTimer } from "./shared-timer.ts";

/** A lane is restated once this much was appended since the last time, or as much as its own length. */
const restateAfter = 8 * 1024;
/**
 * What a batch counts for besides its content. A reader that joins reads all batches since the lane
 * was last restated, and each costs it about as much as this: without it a reply of 20,000 words would
 * be read in 10,000 batches.
 */
const envelopeSize = 128;
/** Requests for a lane are answered at most this often. */
const reseedEveryMs = 1_000;
/**
 * How long `close` waits for the log. Its caller stores the item next, which readers then have without the
 * log: a log that does not answer must not hold up a stop. What it takes later, readers drop.
 */
const closeMs = 250;

/** Opens a lane for writing. Its deltas are folded here, and batched for the log at its pace. */
export function createLaneWriter(options: LaneWriterOptions): LaneWriter {
  const writer = new Writer(options);
  return {
    draft: () => writer.draft,
    lane: () => writer.lane(),
    write: (delta) => writer.write(delta),
    publish: (event) => writer.take(event, event.type !== "tool_execution_update"),
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
  /** The size of the batches since the lane was last restated, and of that restatement. */
  #tailSize = 0;
  #wholeSize = 0;
  /** The next batch does not wait for its window. */
  #urgent = true;
  /** The next batch restates the whole lane. */
  #reseed = false;
  /** When a request for the lane was last answered, by the monotonic clock. */
  #reseededAt = -Infinity;
  /** When a batch was last appended, by the monotonic clock. */
  #appendedAt: number;
  /** When the window ends, or ended: its timer may fire a little before. 0 once it was cut short. */
  #windowEnd = 0;
  readonly #pace: Pace;
  readonly #timer: SharedTimer;
  /** Resolved when there is something to write. */
  #work: PromiseWithResolvers<void> | undefined;
  /** Ends the sleep that is under way, and when it ends by itself. */
  #resume: (() => void) | undefined;
  #sleepsUntil = 0;
  readonly #wakeUp = (): void => {
    this.#resume?.();
    this.#resume = undefined;
  };
  /** Set when `close` has returned: nothing is appended from then on, whatever the log has answered. */
  #left = false;
  #flushed: (() => void)[] = [];

  constructor(options: LaneWriterOptions) {
    const opening = openingOf(options);
    this.#options = options;
    this.#envelope = envelopeOf(options);
    this.#pending = new Gathered(opening);
    this.#pace = new Pace(boundsOf(options), Load.of(options.log, options.clock));
    this.#timer = SharedTimer.of(options.log, options.clock);
    this.#appendedAt = options.clock.monotonic();
    const batch = {
      ...this.#envelope,
      first: 0,
      last: 0,
      time: options.clock.now(),
      events: [opening],
    };
    // The batch begins with its opening, so there is a lane.
    this.#lane = openLane(batch, emptyDraft(options.limits)) as OpenLane;
    this.draft = this.#lane.draft;
    // Without nudges, readers that lack the lane wait for its next restatement.
    this.#running = Promise.all([this.#run(), this.#appendWhenIdle(), this.#listen()]);
  }

  write(given: Delta): Fault | undefined {
    // The caller may reuse its buffer before the batch goes out.
    const delta = given.op === "append_bytes" ? { ...given, chunk: given.chunk.slice() } : given;
    const { op, partId } = delta;
    const fresh = this.#fresh.size > 0 && this.#fresh.has(partId);
    const now = op === "begin_part" || op === "commit_part" || fresh;
    if (this.#stopped()) return undefined;
    const draft = fold(this.draft, delta);
    if (draft.fault !== undefined) return draft.fault;
    this.draft = draft;
    if (this.#lane.stalledMs !== undefined) this.#lane = { ...this.#lane, stalledMs: undefined };
    this.#pending.addDelta(delta);
    this.#schedule(now);
    if (op === "begin_part") this.#fresh.add(partId);
    else if (fresh) this.#fresh.delete(partId);
    return undefined;
  }

  /** Takes an event that is not content. `now`: it does not wait for the window. */
  take(event: LiveEvent, now: boolean): void {
    if (this.#stopped()) return;
    this.#lane = continueLane(this.#lane, [event]);
    this.#pending.addEvent(event);
    this.#schedule(now);
  }

  lane(): OpenLane {
    return { ...this.#lane, draft: this.draft };
  }

  #stopped(): boolean {
    return this.#stop.signal.aborted || this.fenced.signal.aborted;
  }

  /** Sends what was gathered: at once if it is urgent or long, else when its window ends. */
  #schedule(now: boolean): void {
    if (now || this.#pending.size >= (this.#options.windowSize ?? 4_096)) this.#flushSoon();
    else this.#notify();
  }

  async flush(): Promise<void> {
    if (this.fenced.signal.aborted || this.#stop.signal.aborted) return;
    const flushed = new Promise<void>((resolve) => this.#flushed.push(resolve));
    this.#flushSoon();
    await flushed;
  }

  async close(): Promise<void> {
    const inTime = new AbortController();
    const closed = this.#close().finally(() => inTime.abort());
    await Promise.race([closed, this.#options.clock.sleep(closeMs, inTime.signal)]);
    this.#stop.abort();
    this.#left = true;
  }

  async #close(): Promise<void> {
    await this.flush();
    this.#stop.abort();
    this.#flushSoon();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#finished()) {
      if (this.#pending.isEmpty && !this.#reseed) {
        this.#resolveFlushes();
        this.#urgent = false;
        this.#work ??= Promise.withResolvers();
        await this.#work.promise;
        continue;
      }
      if (!this.#urgent) await this.#sleepUntil(this.#nextEnd());
      await this.#send();
    }
    this.#stop.abort();
    this.#resolveFlushes();
  }

  /** When the window ends: at the next multiple of its length, so that all lanes append together. */
  #nextEnd(): number {
    const windowMs = this.#pace.windowMs();
    if (windowMs <= 0) return 0;
    const ended = Math.floor(Math.max(this.#options.clock.monotonic(), this.#windowEnd) / windowMs);
    this.#windowEnd = (ended + 1) * windowMs;
    return this.#windowEnd;
  }

  /** Appends `lane_idled` after `idleMs` without a batch. One timer per `idleMs`, not one per batch. */
  async #appendWhenIdle(): Promise<void> {
    const { clock, idleMs = 15_000 } = this.#options;
    while (!this.#stopped()) {
      const waitMs = this.#appendedAt + idleMs - clock.monotonic();
      await clock.sleep(Math.max(1, waitMs), this.#stop.signal);
      if (this.#stopped() || clock.monotonic() - this.#appendedAt < idleMs) continue;
      this.#appendedAt = clock.monotonic();
      if (!this.#pending.isEmpty) continue;
      this.#pending.addEvent({ type: "lane_idled" });
      this.#flushSoon();
    }
  }

  /** Reads nudges until the lane is closed. While the log is away it subscribes again and again. */
  async #listen(): Promise<void> {
    const { log, uid, clock, random = systemRandom } = this.#options;
    const { signal } = this.#stop;
    for (let failures = 1; !signal.aborted; failures += 1) {
      try {
        for await (const nudge of await log.nudges(uid, { signal })) this.#takeNudge(nudge);
        return;
      } catch {
        await clock.sleep(endlessPause(failures, random()), signal);
      }
    }
  }

  /** A new watcher shortens the window, and a request restates the lane. */
  #takeNudge(nudge: Nudge): void {
    const { lane, clock } = this.#options;
    if (nudge.kind === "wake" && this.#pace.addWatcher()) this.#flushSoon();
    if (nudge.kind !== "reseed" || nudge.lane !== lane) return;
    if (clock.monotonic() - this.#reseededAt < reseedEveryMs) return;
    this.#reseededAt = clock.monotonic();
    this.#reseed = true;
    this.#flushSoon();
  }

  async #send(): Promise<void> {
    const { log, uid, epoch } = this.#options;
    const batch = this.#nextBatch();
    this.#urgent = false;
    let answer: AppendOutcome | undefined;
    try {
      answer = await log.append(uid, batch);
    } catch {
      // The log is away. It may have stored the batch all the same.
    }
    if (answer?.outcome === "stored") this.#pace.answered(answer.watched, answer.near);
    if (answer?.outcome === "refused" && answer.last.epoch > epoch) this.fenced.abort();
    // Lost, or stored with the answer lost: restating the lane is right in both cases.
    const lost = answer === undefined || answer.outcome === "absent";
    this.#reseed ||= lost || this.#tailSize >= Math.max(restateAfter, this.#wholeSize);
    this.#urgent ||= this.#reseed; // readers that lack the lane should not wait for a window
    if (answer !== undefined) return;
    this.#resolveFlushes();
    if (this.#stop.signal.aborted) this.#reseed = false; // the item is in the store: no reader needs the lane
    else await this.#sleepUntil(this.#options.clock.monotonic() + reseedEveryMs);
  }

  #nextBatch(): Batch {
    const first = this.#reseed ? 0 : this.#seq + 1;
    const events = this.#pending.takeAll();
    // A restatement takes one number for all that was waiting.
    this.#seq += this.#reseed ? 1 : events.length;
    this.#appendedAt = this.#options.clock.monotonic();
    this.#lane = { ...this.#lane, seq: this.#seq, time: this.#options.clock.now() };
    const batch = this.#reseed
      ? restateLane(this.lane(), this.#options)
      : { ...this.#envelope, first, last: this.#seq, time: this.#lane.time, events };
    const size = envelopeSize + sizeOfEvents(batch.events);
    this.#tailSize = first === 0 ? 0 : this.#tailSize + size;
    if (first === 0) this.#wholeSize = size;
    this.#reseed = false;
    return batch;
  }

  #finished(): boolean {
    const done = this.#pending.isEmpty && !this.#reseed;
    return this.#left || this.fenced.signal.aborted || (this.#stop.signal.aborted && done);
  }

  /** Sends the next batch without its window. */
  #flushSoon(): void {
    this.#urgent = true;
    this.#windowEnd = 0;
    this.#notify();
    if (this.#resume === undefined) return;
    this.#timer.leave(this.#sleepsUntil, this.#wakeUp);
    this.#wakeUp();
  }

  #notify(): void {
    this.#work?.resolve();
    this.#work = undefined;
  }

  /** Sleeps until a time of the monotonic clock, or until `#flushSoon`. */
  async #sleepUntil(time: number): Promise<void> {
    if (this.#stop.signal.aborted || time <= this.#options.clock.monotonic()) return;
    await new Promise<void>((resolve) => {
      this.#resume = resolve;
      this.#sleepsUntil = time;
      this.#timer.at(time, this.#wakeUp);
    });
  }

  #resolveFlushes(): void {
    for (const done of this.#flushed) done();
    this.#flushed = [];
  }
}

function boundsOf({ windowMs, log }: LaneWriterOptions): PaceBounds {
  if (windowMs !== undefined) return { nearMs: windowMs, leastMs: windowMs, mostMs: windowMs };
  if (log.window !== undefined) return { nearMs: log.window.leastMs, ...log.window };
  return { nearMs: 0, ...defaultWindow };
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
