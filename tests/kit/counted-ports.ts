import type { SessionUid } from "@millrace/core";
import type { Clock, EventLog } from "@millrace/core/ports";

/** What one host waits for: all of it is 0, or as for an idle host, once it has nothing to do. */
export interface PortCounts {
  /** Sleeps and calls of the clock that are pending. */
  readonly timers: number;
  /** Viewers' subscriptions of the log: one for each room of a hub, and each `follow`. */
  readonly tails: number;
  /** Open sessions: each is subscribed to its heads. */
  readonly heads: number;
  /** Lanes that are written: each is subscribed to its nudges. */
  readonly lanes: number;
}

/** Clock and log of one host, counted. */
export interface CountedPorts<Log extends EventLog> {
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: () => PortCounts;
}

/** Counts what a host waits for, by its clock and its log: give it these, and nobody else. */
export function countedPorts<Log extends EventLog>(given: {
  readonly clock: Clock;
  readonly log: Log;
}): CountedPorts<Log> {
  const counts = { timers: 0, tails: 0, heads: 0, lanes: 0 };
  return {
    clock: countedClock(given.clock, counts),
    log: countedLog(given.log, counts),
    counts: () => ({ ...counts }),
  };
}

type Counts = { -readonly [Name in keyof PortCounts]: number };

function countedClock(clock: Clock, counts: Counts): Clock {
  const counting =
    (sleep: Clock["sleep"]): Clock["sleep"] =>
    async (ms, signal) => {
      counts.timers += 1;
      await sleep(ms, signal);
      counts.timers -= 1;
    };
  const after: Clock["after"] = (ms, call, options) => {
    let isPending = true;
    counts.timers += 1;
    const end = (): boolean => {
      if (isPending) counts.timers -= 1;
      const was = isPending;
      isPending = false;
      return was;
    };
    const takeBack = clock.after(ms, () => void (end() && call()), options);
    return () => {
      end();
      takeBack();
    };
  };
  const idle = counting(clock.idle ?? clock.sleep);
  return { ...clock, sleep: counting(clock.sleep), idle, after };
}

type Subscribe<T> = (
  uid: SessionUid,
  options?: { readonly signal?: AbortSignal | undefined },
) => Promise<AsyncIterable<T>>;

function countedLog<Log extends EventLog>(log: Log, counts: Counts): Log {
  const counting =
    <T>(name: keyof PortCounts, subscribe: Subscribe<T>): Subscribe<T> =>
    async (uid, options = {}) => {
      const values = await subscribe(uid, options);
      counts[name] += 1;
      let isOpen = true;
      const end = (): void => {
        if (isOpen) counts[name] -= 1;
        isOpen = false;
      };
      const { signal } = options;
      if (signal?.aborted === true) end();
      signal?.addEventListener("abort", end, { once: true });
      return values;
    };
  return {
    ...log,
    tail: counting("tails", log.tail),
    heads: counting("heads", log.heads),
    nudges: counting("lanes", log.nudges),
  };
}
