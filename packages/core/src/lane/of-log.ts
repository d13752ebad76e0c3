import type { Clock } from "../ports/clock.ts";
import type { EventLog } from "../ports/event-log.ts";

/**
 * What is made once for each log and clock, and forgotten with the log. Two hosts in one program have a log
 * each, as two processes have: by the clock alone they would share what they wait by, and a host that
 * stands still would hold up the other one.
 */
export function ofLog<Shared>(
  make: (clock: Clock) => Shared,
): (log: EventLog, clock: Clock) => Shared {
  const all = new WeakMap<EventLog, WeakMap<Clock, Shared>>();
  return (log, clock) => {
    const byClock = all.get(log) ?? new WeakMap<Clock, Shared>();
    all.set(log, byClock);
    const shared = byClock.get(clock) ?? make(clock);
    byClock.set(clock, shared);
    return shared;
  };
}
