import { setTimeout as sleep } from "node:timers/promises";
import { Random } from "../kit/random.ts";
import { hinders } from "./faults.ts";
import type { Fault, FaultyPlace } from "./faults.ts";

/** A fault of a history. It draws what it does from its own seed, so the row is all that a repeat needs. */
export interface FaultRow {
  /** From the start of the faults. */
  readonly atMs: number;
  readonly name: string;
  readonly seed: number;
}

/** Gives the time and the kind of the next fault, or undefined: there is none. */
export type NextFault = () => FaultRow | undefined;

export interface Pace {
  readonly faultMs: number;
  /** The pause before each fault: at least, and at most. */
  readonly pauseMs: readonly [number, number];
}

/** Draws faults of all kinds until their time is over. */
export function drawFaults(names: readonly string[], seed: number, pace: Pace): NextFault {
  const random = new Random(seed);
  const [least, most] = pace.pauseMs;
  let atMs = 0;
  return () => {
    atMs += least + random.next() * (most - least);
    if (atMs > pace.faultMs) return undefined;
    return { atMs: Math.round(atMs), name: random.pick(names), seed: random.below(2 ** 31) };
  };
}

/** The faults of a history that was kept. */
export function repeatFaults(rows: readonly FaultRow[]): NextFault {
  const left = rows.values();
  return () => left.next().value;
}

/**
 * Lets faults happen, at most three at once. One that would hinder another is left out. Resolves to those that
 * happened when all are over, and rejects if one does not come to its end.
 */
export async function inject(
  kinds: Readonly<Record<string, Fault>>,
  next: NextFault,
  place: FaultyPlace,
  onPause: () => void,
): Promise<readonly FaultRow[]> {
  const happened: FaultRow[] = [];
  const current = new Set<string>();
  const all: Promise<void>[] = [];
  const start = performance.now();
  for (let row = next(); row !== undefined; row = next()) {
    await sleep(Math.max(0, start + row.atMs - performance.now()));
    onPause();
    const { name, seed } = row;
    const fault = kinds[name];
    const isHindered = [...current].some((one) => hinders(one, name) || one === name);
    if (fault === undefined || isHindered || current.size > 2) continue;
    happened.push(row);
    current.add(name);
    const over = fault(place, new Random(seed)).finally(() => current.delete(name));
    over.catch(() => undefined); // awaited at the end
    all.push(over);
  }
  await Promise.all(all);
  return happened;
}
