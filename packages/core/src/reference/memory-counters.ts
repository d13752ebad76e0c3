import type { Clock } from "../ports/clock.ts";
import type { CounterRequest, Counters, CounterState, HoldRequest } from "../ports/counters.ts";
import { systemClock } from "./system.ts";

interface Window {
  used: number;
  readonly endsAt: number;
}

/** Until when a place is held by one process. */
interface HeldPlace {
  readonly holder: string;
  readonly endsAt: number;
}

/** How many keys are held before those that are over are dropped. */
const sweepAt = 10_000;

/** The Counters of one process. A key costs about 100 bytes until its window, or its last place, is over. */
export function memoryCounters(clock: Pick<Clock, "monotonic"> = systemClock): Counters {
  const windows = new Map<string, Window>();
  const places = new Map<string, Map<string, HeldPlace>>();
  let sweepSize = sweepAt;

  const sweep = (now: number): void => {
    if (windows.size + places.size < sweepSize) return;
    for (const [key, { endsAt }] of windows) if (endsAt <= now) windows.delete(key);
    for (const [key, held] of places) {
      if ([...held.values()].every(({ endsAt }) => endsAt <= now)) places.delete(key);
    }
    sweepSize = Math.max(sweepAt, (windows.size + places.size) * 2);
  };

  const take = ({ key, limit, windowMs, ...more }: CounterRequest): CounterState => {
    const { amount = 1, beyond = false } = more;
    const now = clock.monotonic();
    const known = windows.get(key);
    const open = known !== undefined && known.endsAt > now ? known : undefined;
    const window = open ?? { used: 0, endsAt: now + windowMs };
    const taken = beyond || window.used + amount <= limit;
    if (taken) window.used += amount;
    if (open === undefined && window.used > 0) {
      sweep(now);
      windows.set(key, window);
    }
    const remaining = Math.max(0, limit - window.used);
    return { taken, remaining, leftMs: Math.ceil((window.endsAt - now) / 1_000) * 1_000 };
  };

  const hold = ({ key, holder, by, limit, leaseMs }: HoldRequest): boolean => {
    const now = clock.monotonic();
    const held = places.get(key) ?? new Map<string, HeldPlace>();
    for (const [other, { endsAt }] of held) if (endsAt <= now) held.delete(other);
    if (held.size >= limit) {
      const holders = new Set([...held.values()].map((place) => place.holder));
      if (!holders.has(holder) && holders.size >= limit) return false;
    }
    if (held.size === 0) {
      sweep(now);
      places.set(key, held);
    }
    held.set(placeOf(holder, by), { holder, endsAt: now + leaseMs });
    return true;
  };

  const release: Counters["release"] = ({ key, holder, by }) => {
    const held = places.get(key);
    held?.delete(placeOf(holder, by));
    if (held?.size === 0) places.delete(key);
  };

  return { take, hold, release };
}

function placeOf(holder: string, by = ""): string {
  return JSON.stringify([holder, by]);
}
