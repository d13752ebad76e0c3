import type { Clock } from "@millrace/core/ports";

/** One reading of the server's clock. */
interface Sample {
  /** The server's milliseconds since 1970 less this host's monotonic ones. */
  readonly offset: number;
  /** How long the question and its answer took: the offset is wrong by at most half of that. */
  readonly roundTrip: number;
}

/** The samples among which the best is chosen. */
const kept = 5;
/** The first samples are taken by the first calls, since those of a new connection are slow. */
const taughtBy = 3;
const intervalMs = 30_000;
/** How far the two clocks may drift apart between samples. */
const driftMs = 5;

/**
 * The server's clock, as an offset to this host's monotonic clock. It is measured along with calls
 * that are made anyway: by the first ones, then every 30 s. Of the last samples the one with the
 * shortest round trip counts. A sample that contradicts the earlier ones is newer than a jump of the
 * server's clock, or a failover: then they are dropped.
 */
export class StoreClock {
  readonly #clock: Clock;
  #samples: readonly Sample[] = [];
  #offset: number | undefined;
  #taken = 0;
  #dueAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since 1970 by the server, or by this host before the first sample. */
  readonly now = (): number => {
    const offset = this.#offset;
    return Math.round(offset === undefined ? this.#clock.now() : this.#clock.monotonic() + offset);
  };

  /** This host's monotonic clock. */
  monotonic(): number {
    return this.#clock.monotonic();
  }

  /** True if the next call is to measure. Of calls at once only some do: the rest need not. */
  takeTurn(): boolean {
    const now = this.#clock.monotonic();
    if (this.#taken >= taughtBy && now < this.#dueAt) return false;
    this.#dueAt = now + intervalMs;
    return true;
  }

  /** Takes the server's time, and when this host asked for it and had it. */
  take(serverMs: number, askedAt: number, answeredAt: number): void {
    const roundTrip = answeredAt - askedAt;
    const sample = { offset: serverMs - (askedAt + answeredAt) / 2, roundTrip };
    const agrees = this.#samples.every(
      (earlier) =>
        Math.abs(earlier.offset - sample.offset) <=
        (earlier.roundTrip + sample.roundTrip) / 2 + driftMs,
    );
    this.#samples = [sample, ...(agrees ? this.#samples : [])].slice(0, kept);
    const [best] = this.#samples.toSorted((left, right) => left.roundTrip - right.roundTrip);
    this.#offset = best?.offset;
    this.#taken += 1;
    this.#dueAt = answeredAt + intervalMs;
  }
}
