/** What Ctrl-C does. */
export type Interruption = "abort" | "clear" | "leave";

/** Twice within this long leaves, whatever is going on. */
const twiceMs = 2_000;

/**
 * Decides what Ctrl-C means now: it stops a run, clears a line that was begun, and otherwise leaves.
 * `last` is when it was pressed before.
 */
export function interrupt(now: {
  readonly time: number;
  readonly last: number | undefined;
  readonly running: boolean;
  readonly typed: boolean;
}): Interruption {
  const { time, last, running, typed } = now;
  if (last !== undefined && time - last < twiceMs) return "leave";
  if (running) return "abort";
  return typed ? "clear" : "leave";
}
