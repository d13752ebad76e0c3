import type { Clock } from "../ports/clock.ts";
import type { CounterRequest, Counters, CounterState, HoldRequest } from "../ports/counters.ts";
import { systemClock } from "./system.ts";

interface Window {
  used: number;
  readonly endsAt: number;
}

/** Until when a slot is held by one process. */
interface Slot {
  readonly holder: string;
  readonly endsAt: number;
}

/** How many keys are held before those that are over are dropped. */
const sweepAt = 10_000;

/** The Counters of one process. A key costs about 100 bytes until its window, or its last slot, is over. */
export function memoryCounters(clock: Pick<Clock, "monotonic"> = systemClock): Counters {
  const windows = new Map<string, Window>();
  const slots = new Map<string, Map<string, Slot>>();
  let sweepSize = sweepAt;

  const sweep = (now: number): void => {
    if (windows.size + slots.size < sweepSize) return;
    for (const [key, { endsAt }] of windows) if (endsAt <= now) windows.delete(key);
    for (const [key, held] of slots) {
      if ([...held.values()].every(({ endsAt }) => endsAt <= now)) slots.delete(key);
    }
    sweepSize = Math.max(sweepAt, (windows.size + slots.size) * 2);
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
    const held = slots.get(key) ?? new Map<string, Slot>();
    for (const [other, { endsAt }] of held) if (endsAt <= now) held.delete(other);
    if (held.size >= limit) {
      const holders = new Set([...held.values()].map((slot) => slot.holder));
      if (!holders.has(holder) && holders.size >= limit) return false;
    }
    if (held.size === 0) {
      sweep(now);
      slots.set(key, held);
    }
    held.set(slotKey(holder, by), { holder, endsAt: now + leaseMs });
    return true;
  };

  const release: Counters["release"] = ({ key, holder, by }) => {
    const held = slots.get(key);
    held?.delete(slotKey(holder, by));
    if (held?.size === 0) slots.delete(key);
  };

  return { take, hold, release };
}

function slotKey(holder: string, by = ""): string {
  return JSON.stringify([holder, by]);
}
