/** The window of an unwatched lane: its batches serve only readers that join later. */
const unwatchedMs = 1_000;
/** A log that answers later than this is sent fewer batches. */
const slowMs = 20;
const slowWindow = { leastMs: 100, mostMs: 200 };
/** The slowest answer decays by this with each further one: to half after some 30 answers. */
const decay = 0.98;
/** Answers after a new watcher that may date from before it: the one under way, and the one after it. */
const staleAnswers = 2;

/**
 * How long a lane gathers deltas before it appends a batch. Short while the lane is watched, long while
 * it is not, and longer while the log is slow: a writer can relieve a log only by fewer batches.
 */
export class Pace {
  readonly #windowMs: number;
  /** True until the log reports otherwise. */
  #watched = true;
  /** How many of the next answers are not believed when they report that the lane is unwatched. */
  #ignoreUnwatched = 0;
  /** About the slowest answer in a hundred. */
  #slowestMs = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  windowMs(): number {
    if (!this.#watched) return Math.max(this.#windowMs, unwatchedMs);
    if (this.#slowestMs <= slowMs) return this.#windowMs;
    const wide = Math.min(slowWindow.mostMs, 5 * this.#slowestMs);
    return Math.max(this.#windowMs, slowWindow.leastMs, wide);
  }

  /** The log has answered an append. */
  answered(tookMs: number, watched: boolean | undefined): void {
    this.#slowestMs = Math.max(tookMs, this.#slowestMs * decay);
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
