/** Times of signs of life, in milliseconds. */
export interface LifeTimes {
  /** How often a driver counts its beat up, and how often the beats of other drivers are read. */
  readonly beatMs: number;
  /** A driver whose beat has not changed for this long is dead. */
  readonly deadMs: number;
  /** A longer pause between two answers of the store starts an observation anew. */
  readonly gapMs: number;
}

export const defaultTimes: LifeTimes = { beatMs: 500, deadMs: 1_500, gapMs: 1_000 };

/** A driver's beat counter as one successful read found it, by the reader's monotonic clock. */
export interface BeatRead {
  /** Undefined: the driver has not beaten yet. */
  readonly beat: number | undefined;
  readonly sentAt: number;
  readonly answeredAt: number;
}

/** What one process knows of the beat of another. No time of another host is in it. */
export interface Observation {
  readonly beat: number | undefined;
  /** The beat had this value then already … */
  readonly from: number;
  /** … and at this time still. */
  readonly to: number;
  readonly answeredAt: number;
}

/**
 * The observation after one more read. A store reads the counter somewhere between request and answer,
 * so the value is certain from the first answer to the latest request. The observation starts anew if
 * the beat has changed, or if the store has not answered for longer than a gap: a driver can't beat in
 * a store that is away, and a reader that was stopped has seen nothing.
 */
export function observe(
  before: Observation | undefined,
  { beat, sentAt, answeredAt }: BeatRead,
  { gapMs }: Pick<LifeTimes, "gapMs">,
): Observation {
  const goesOn =
    before !== undefined && before.beat === beat && answeredAt - before.answeredAt <= gapMs;
  if (!goesOn) return { beat, from: answeredAt, to: answeredAt, answeredAt };
  return {
    beat,
    from: before.from,
    to: Math.max(before.to, sentAt),
    answeredAt: Math.max(before.answeredAt, answeredAt),
  };
}

/** True if the beat has stood still for as long as a dead driver's does. */
export function isDead({ from, to }: Observation, { deadMs }: Pick<LifeTimes, "deadMs">): boolean {
  return to - from >= deadMs;
}
