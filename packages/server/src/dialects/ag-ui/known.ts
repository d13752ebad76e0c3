import { callIdOf } from "../call-names.ts";
import type { Wait } from "../waits.ts";

/** What a page's request says that it holds of a run. */
export interface Held {
  /** Names of calls in its messages, and the questions that it answers. */
  readonly names: ReadonlySet<string>;
  /** Names of calls with results in its messages. */
  readonly settled: ReadonlySet<string>;
}

/**
 * Up to which fact a page holds the run that it goes on with. Its stream ended where the run waited, so it holds
 * all up to the last moment whose questions and results it knows. 0: it holds none of it.
 */
export function knownTo(waits: readonly Wait[], { names, settled }: Held): number {
  const held = new Set([...names].map(callIdOf));
  const done = new Set([...settled].map(callIdOf));
  const isHeld = (wait: Wait): boolean =>
    wait.asked.every((name) => held.has(name)) && wait.settled.every((id) => done.has(id));
  return waits.findLast(isHeld)?.n ?? 0;
}
