/** With nobody watching, batches serve only those who come later. */
const unwatchedMs = 1_000;
/** A log that answers later than this is given less to do. */
const slowMs = 20;
const slowWindow = { leastMs: 100, mostMs: 200 };
/** Of the slowest answer, this much is still remembered after the next one: half after some 30 answers. */
const memory = 0.98;
/** Answers that may be of before a reader came: the one under way, and the one that tells of it. */
const oldAnswers = 2;

/**
 * How long a lane gathers before it writes. Short while somebody watches, long while nobody does, and
 * longer while the log is slow: fewer batches are the one relief that a writer can give it.
 */
export class Pace {
  readonly #windowMs: number;
  /** Until the log says otherwise, somebody watches. */
  #watched = true;
  #doubtful = 0;
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
    this.#slowestMs = Math.max(tookMs, this.#slowestMs * memory);
    if (watched === true || (watched === false && this.#doubtful === 0)) this.#watched = watched;
    if (this.#doubtful > 0) this.#doubtful -= 1;
  }

  /** Somebody watches from now on. True if nobody did, so that there may be something to show. */
  woken(): boolean {
    const wasUnwatched = !this.#watched;
    this.#watched = true;
    this.#doubtful = oldAnswers;
    return wasUnwatched;
  }
}
