import type { Clock } from "../ports/clock.ts";
import type { EventLog, WindowBounds } from "../ports/event-log.ts";
import { ofLog } from "./of-log.ts";

/** The busy share of the event loop from which on a level begins. Below the first it is level 0. */
const levels = [0.5, 0.75];
/** The window of each level. Below the time between two deltas a window merges nothing in a lane. */
const windowsMs = [8, 25, 50] as const;
/** The share is measured over at least this long. */
const sampleMs = 100;
/** The window is narrowed after the load was lower for so long. It is widened at once. */
const narrowAfterMs = 500;

/** The window of a log that names none. */
export const defaultWindow: WindowBounds = { leastMs: windowsMs[0], mostMs: windowsMs[2] };

/**
 * How busy the event loop of this process is, as the length of a window. A narrow window costs wake-ups
 * and buys latency, which is free as long as the processor has nothing else to do. One for each log and
 * clock, so that all lanes of a host have the same window and end it together.
 *
 * It is the share of time in which the loop was not idle. How long an append takes is no sign of
 * load: it contains the delay of this loop, which a wider window would only add to.
 */
export class Load {
  readonly #clock: Clock;
  #level = 0;
  #sampledAt: number;
  #busyMs: number;
  /** When the load was last at the present level or above. */
  #heldAt: number;

  private constructor(clock: Clock) {
    this.#clock = clock;
    this.#sampledAt = clock.monotonic();
    this.#heldAt = this.#sampledAt;
    this.#busyMs = clock.busyMs?.() ?? 0;
  }

  /** The one of those that write to this log by this clock. */
  static readonly of: (log: EventLog, clock: Clock) => Load = ofLog((clock) => new Load(clock));

  /** The present window, within the bounds. A clock that does not know its load gives the shortest. */
  windowMs({ leastMs, mostMs }: WindowBounds): number {
    const now = this.#clock.monotonic();
    if (now - this.#sampledAt >= sampleMs) this.#sample(now);
    if (this.#level === 0) return leastMs;
    return Math.max(leastMs, Math.min(windowsMs[this.#level] ?? windowsMs[2], mostMs));
  }

  #sample(now: number): void {
    const busyMs = this.#clock.busyMs?.() ?? 0;
    const share = (busyMs - this.#busyMs) / (now - this.#sampledAt);
    this.#busyMs = busyMs;
    this.#sampledAt = now;
    const level = levels.filter((from) => share >= from).length;
    if (level < this.#level && now - this.#heldAt < narrowAfterMs) return;
    this.#level = level;
    this.#heldAt = now;
  }
}
