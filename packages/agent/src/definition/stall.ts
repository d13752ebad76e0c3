import { MillraceError } from "@millrace/core";

/**
 * How long a model may stream nothing. The loop has one such clock for each attempt. The provider's own
 * clocks are off under the loop, except a `firstByte` or `idle` that was set on the provider itself.
 *
 * Only a delta is progress. Pings, comments and unknown events are not, because a vendor that hangs may
 * ping without end. A model that thinks without streaming may therefore take up to `giveUpAfterMs`, or three
 * times that while its vendor pings. Such a request is not repeated: it was worked on, and is billed.
 */
export interface StallSettings {
  /**
   * After this time without progress a `stalled` event is published, and again after each further such
   * time. 30,000 (30 seconds) if left out. `Infinity`: never.
   */
  readonly reportAfterMs?: number | undefined;
  /**
   * After this time without progress the attempt fails with the code `stalled`, and the agent's retry
   * policy decides about another attempt. 600,000 (10 minutes) if left out. `Infinity`: never; only a
   * stop or a limit of the run ends the attempt.
   */
  readonly giveUpAfterMs?: number | undefined;
}

export type FilledStallSettings = { readonly [Name in keyof StallSettings]-?: number };

/** 10 minutes is also the default timeout of the vendors' own clients. */
const defaults: FilledStallSettings = { reportAfterMs: 30_000, giveUpAfterMs: 600_000 };

/** Fills in the defaults. Throws `invalid_definition` for a value that is no time span. */
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
