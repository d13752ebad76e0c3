import type { Clock } from "@millrace/core/ports";
import type { HubOptions } from "./options.ts";
import type { Stream } from "./stream.ts";

/** How streams are kept, for all streams of a hub. */
export interface StreamsOptions {
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  readonly heartbeatMs: number;
  /** How long a stream lives on average, and the part of that by which lives differ. */
  readonly life: { readonly ms: number; readonly spread: number };
}

/** How often streams are looked after. */
const tickMs = 1_000;
/** How often some streams are ended while a hub drains. */
const drainTickMs = 100;
/** Readers of a small crowd come back within this, and of any crowd within the other. */
const retryRangeMs = { least: 500, most: 30_000 } as const;
/** As soon as that, readers come back after the end of a stream that another node or request goes on with. */
const returnWithinMs = { drain: 2_000, recycled: 200 } as const;

/**
 * All streams of a hub: one timer looks after them, since a timer for each would cost more than the rest
 * of an idle stream. It runs only while there are streams.
 */
export class Streams {
  readonly heartbeatMs: number;
  readonly #options: StreamsOptions;
  readonly #all = new Set<Stream>();
  readonly #start: number;
  #stop = new AbortController();
  #isTicking = false;
  #isDraining = false;

  constructor(options: StreamsOptions) {
    this.#options = options;
    this.heartbeatMs = options.heartbeatMs;
    this.#start = options.clock.monotonic();
  }

  get size(): number {
    return this.#all.size;
  }

  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** Whole milliseconds since the hub began: a stream holds two such times, and small whole numbers cost it nothing. */
  now(): number {
    return Math.round(this.#options.clock.monotonic() - this.#start);
  }

  add(stream: Stream): void {
    this.#all.add(stream);
    if (!this.#isTicking) void this.#tick();
  }

  delete(stream: Stream): void {
    this.#all.delete(stream);
    if (this.#all.size === 0) this.#stop.abort();
  }

  /**
   * Readers wait for a time of their own up to this before they come back, so that a crowd does not come
   * back at one moment: a thousand of them a second.
   */
  get retryRange(): number {
    return Math.min(retryRangeMs.most, Math.max(retryRangeMs.least, this.#all.size));
  }

  /** When a stream that begins now is to end, so that its reader comes back, perhaps elsewhere. */
  endOfLife(): number {
    const { life, random } = this.#options;
    return Math.round(this.now() + life.ms * (1 + life.spread * (2 * random() - 1)));
  }

  /** A time within a range. */
  within(rangeMs: number): number {
    return Math.floor(this.#options.random() * (rangeMs + 1));
  }

  /** How soon the reader comes back, where that is not the time it was sent first. */
  retryAfter(reason: string | undefined): number | undefined {
    return reason === "drain" || reason === "recycled"
      ? this.within(returnWithinMs[reason])
      : undefined;
  }

  /** Ends all streams, spread over a time, and from now on each new one at once. Resolves when none is left. */
  async drain(overMs: number): Promise<void> {
    this.#isDraining = true;
    const { clock } = this.#options;
    const start = this.now();
    // In random order: readers that came together are not to come back together.
    const left = shuffled([...this.#all], this.#options.random);
    for (const count = left.length; left.length > 0;) {
      const elapsed = this.now() - start;
      const keep = overMs > 0 ? Math.floor(count * Math.max(0, 1 - elapsed / overMs)) : 0;
      while (left.length > keep) left.pop()?.finish({ reason: "drain" });
      if (left.length > 0) await clock.sleep(Math.min(drainTickMs, overMs));
    }
  }

  /** Ends all streams now. */
  endAll(): void {
    this.#isDraining = true;
    for (const stream of this.#all) stream.finish({ reason: "drain" });
  }

  async #tick(): Promise<void> {
    this.#isTicking = true;
    const { clock } = this.#options;
    const idle = clock.idle ?? clock.sleep; // an open stream keeps the process alive by its socket
    while (this.#all.size > 0) {
      this.#stop = new AbortController();
      await idle(tickMs, this.#stop.signal);
      const now = this.now();
      for (const stream of this.#all) stream.tick(now);
    }
    this.#isTicking = false;
  }
}

/** The streams of a hub with these options. */
export function openStreams(options: HubOptions, clock: Clock): Streams {
  const { random = Math.random, heartbeatMs = 15_000, maxMs } = options;
  const life = maxMs === undefined ? { ms: 1_800_000, spread: 0.2 } : { ms: maxMs, spread: 0.1 };
  return new Streams({ clock, random, heartbeatMs, life });
}

function shuffled<T>(values: T[], random: () => number): T[] {
  for (let at = values.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    const value = values[at] as T; // below the length
    values[at] = values[other] as T;
    values[other] = value;
  }
  return values;
}
