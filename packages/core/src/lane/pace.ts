import type { WindowBounds } from "../ports/event-log.ts";
import type { Load } from "./load.ts";

/** The bounds of a window. */
export interface PaceBounds extends WindowBounds {
  /** In the place of `leastMs` while a reader in this process is attached. */
  readonly nearMs: number;
}

/** The window of an unwatched lane: its batches serve only readers that join later. */
const unwatchedMs = 1_000;
/** Answers after a new watcher that may date from before it: the one under way, and the one after it. */
const staleAnswers = 2;

/**
 * How long a lane gathers deltas before it appends a batch: by the load while the lane is watched, long
 * while it is not. A slow log needs no wider window: a lane has one batch on its way, and gathers until
 * it is answered.
 */
export class Pace {
  readonly #bounds: PaceBounds;
  readonly #load: Load;
  /** Whether a reader in this process had the last batch. */
  #near = false;
  /** True until the log reports otherwise. */
  #watched = true;
  /** How many of the next answers are not believed when they report that the lane is unwatched. */
  #ignoreUnwatched = 0;

  constructor(bounds: PaceBounds, load: Load) {
    this.#bounds = bounds;
    this.#load = load;
  }

  windowMs(): number {
    const { nearMs, leastMs, mostMs } = this.#bounds;
    const windowMs = this.#load.windowMs({ leastMs: this.#near ? nearMs : leastMs, mostMs });
    return this.#watched ? windowMs : Math.max(windowMs, unwatchedMs);
  }

  /** The log has answered an append. */
  answered(watched: boolean | undefined, near = false): void {
    this.#near = near;
    if (watched === true || (watched === false && this.#ignoreUnwatched === 0))
      this.#watched = watched;
    if (this.#ignoreUnwatched > 0) this.#ignoreUnwatched -= 1;
  }

  /** The lane is watched from now on. True if it was not: what was gathered should then go out. */
  addWatcher(): boolean {
    const wasUnwatched = !this.#watched;
    this.#watched = true;
    this.#ignoreUnwatched = staleAnswers;
    return wasUnwatched;
  }
}
