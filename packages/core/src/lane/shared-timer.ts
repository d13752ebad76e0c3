import type { Clock } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-log.ts";
import { ofLog } from "./of-log.ts";

/** A moment that is waited for. */
interface Moment {
  readonly calls: Set<() => void>;
  readonly stop: AbortController;
}

/**
 * One timer for all who wait for the same moment. Windows end at multiples of their length, so all lanes
 * of a host wait for few moments: what a timer costs is paid once for them, and what they append
 * shares a round trip. One for each log and clock.
 */
export class SharedTimer {
  readonly #clock: Clock;
  readonly #moments = new Map<number, Moment>();

  private constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The one of those that write to this log by this clock. */
  static readonly of: (log: EventLog, clock: Clock) => SharedTimer = ofLog(
    (clock) => new SharedTimer(clock),
  );

  /** Calls it at a time of the monotonic clock, or up to a millisecond before. It must not throw. */
  at(time: number, call: () => void): void {
    const known = this.#moments.get(time);
    if (known !== undefined) known.calls.add(call);
    else void this.#wait(time, { calls: new Set([call]), stop: new AbortController() });
  }

  /** Takes a call back. A moment that nobody waits for keeps no process alive. */
  leave(time: number, call: () => void): void {
    const moment = this.#moments.get(time);
    if (moment === undefined || !moment.calls.delete(call) || moment.calls.size > 0) return;
    this.#moments.delete(time);
    moment.stop.abort();
  }

  async #wait(time: number, moment: Moment): Promise<void> {
    this.#moments.set(time, moment);
    await this.#clock.sleep(time - this.#clock.monotonic(), moment.stop.signal);
    if (moment.stop.signal.aborted) return;
    this.#moments.delete(time);
    for (const call of moment.calls) call();
  }
}
