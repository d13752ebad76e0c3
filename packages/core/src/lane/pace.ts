/** The window of an unwatched lane: its batches serve only readers that join later. */
const unwatchedMs = 1_000;
/** A log that answers later than this is sent fewer batches. */
const slowMs = 20;
const slowWindow = { leastMs: 100, mostMs: 200 };
/** The window while the log is slow, in times of its answer. */
const windowPerAnswer = 5;
/** A slow answer counts for less with each further one. Two quick answers, and it is forgotten. */
const decay = 0.7;
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
  /** About the slowest of the last answers, up to what makes the widest window. */
  #slowestMs = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  windowMs(): number {
    if (!this.#watched) return Math.max(this.#windowMs, unwatchedMs);
    if (this.#slowestMs <= slowMs) return this.#windowMs;
    return Math.max(this.#windowMs, slowWindow.leastMs, windowPerAnswer * this.#slowestMs);
  }

  /** The log has answered an append. The delay of this process's own event loop is not in its time. */
  answered(tookMs: number, watched: boolean | undefined): void {
    const slowest = Math.max(tookMs, this.#slowestMs * decay);
    this.#slowestMs = Math.min(slowest, slowWindow.mostMs / windowPerAnswer);
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
