import { MillraceError } from "@millrace/core";

/**
 * How long a model may be silent. One clock for each attempt, which the loop owns: while the loop
 * drives, a provider's own clocks for silence are off, except a `firstByte` or `idle` that was set on
 * the provider itself.
 *
 * Progress is a delta. A ping, a comment or an event that nobody knows is none: a vendor that is stuck
 * may ping for ever. So silence with pings and silence without are given the same time, and thinking
 * that is not streamed lives for as long as `giveUpAfterMs`.
 */
export interface StallSettings {
  /**
   * Without progress for this long, viewers get `stalled`, and again after each further such time.
   * 30,000 if left out, which is 30 seconds. `Infinity`: never.
   */
  readonly reportAfterMs?: number | undefined;
  /**
   * Without progress for this long, the attempt ends as failed with the code `stalled`, and the agent's
   * retry policy decides whether another one follows. 600,000 if left out, which is 10 minutes.
   * `Infinity`: never, so that only the run's limits and a stop end it.
   */
  readonly giveUpAfterMs?: number | undefined;
}

export type FilledStallSettings = { readonly [Name in keyof StallSettings]-?: number };

/** Vendors' own clients wait as long as this before they give up. */
const defaults: FilledStallSettings = { reportAfterMs: 30_000, giveUpAfterMs: 600_000 };

/** Fills in the defaults. Throws `invalid_definition` for what is no span of time. */
export function stallSettings(
  given: StallSettings | false | undefined,
): FilledStallSettings | false {
  if (given === false) return false;
  return {
    reportAfterMs: span("reportAfterMs", given?.reportAfterMs),
    giveUpAfterMs: span("giveUpAfterMs", given?.giveUpAfterMs),
  };
}

function span(name: keyof StallSettings, given: unknown): number {
  const ms = given ?? defaults[name];
  if (typeof ms === "number" && ms >= 1) return ms;
  throw new MillraceError(
    "invalid_definition",
    `stall.${name} is ${JSON.stringify(ms)}: it is a number of milliseconds from 1, or Infinity for never`,
  );
}
