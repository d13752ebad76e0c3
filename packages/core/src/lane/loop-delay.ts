import type { Clock } from "../ports/clock.ts";

/** How long a timer is by which the delay is measured. A delay that is much shorter goes unnoticed. */
const tickMs = 10;

/**
 * Times calls to the outside without the delay of this process's own event loop: while the loop is
 * busy, an answer that has come waits as a due timer does. One timer runs while a call is under way,
 * for all calls of the process.
 */
export class LoopDelay {
  readonly #clock: Clock;
  /** How late timers were so far, in sum. */
  #lateMs = 0;
  /** When the running timer is due. */
  #dueAt = Infinity;
  /** Calls that are under way. */
  #calls = 0;

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The one of this clock. */
  static of(clock: Clock): LoopDelay {
    const known = byClock.get(clock) ?? new LoopDelay(clock);
    byClock.set(clock, known);
    return known;
  }

  /** Starts a call. What it returns ends the call and gives the milliseconds that the outside took. */
  start(): () => number {
    const startedAt = this.#clock.monotonic();
    const before = this.#delayMs();
    this.#calls += 1;
    if (this.#dueAt === Infinity) void this.#tick();
    return () => {
      this.#calls -= 1;
      const passed = this.#clock.monotonic() - startedAt;
      return Math.max(0, passed - (this.#delayMs() - before));
    };
  }

  #delayMs(): number {
    return this.#lateMs + Math.max(0, this.#clock.monotonic() - this.#dueAt);
  }

  async #tick(): Promise<void> {
    while (this.#calls > 0) {
      this.#dueAt = this.#clock.monotonic() + tickMs;
      await this.#clock.sleep(tickMs);
      this.#lateMs = this.#delayMs();
    }
    this.#dueAt = Infinity;
  }
}

const byClock = new WeakMap<Clock, LoopDelay>();
