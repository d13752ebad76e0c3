import { MillraceError } from "../errors.ts";

/**
 * One attempt at one item: incarnation, generation and attempt packed into one number, so that
 * comparing two epochs shows which writer is newer, in any engine. Never used twice in a session.
 * Compare as numbers, never as text, and never with 32-bit operators.
 */
export type Epoch = number;

export interface EpochFields {
  /** Raised by each claim of the session. */
  readonly incarnation: number;
  /** Raised for each writer that the driver starts, model or tool, for the first time or again. */
  readonly generation: number;
  /** Counted by the engine that runs the writer. */
  readonly attempt: number;
}

const incarnations = 2 ** 23;
const generations = 2 ** 18;
const attempts = 2 ** 12;

/** Throws when a field does not fit its bits: running over would reach into the next field. */
export function packEpoch({ incarnation, generation, attempt }: EpochFields): Epoch {
  within("incarnation", incarnation, incarnations);
  within("generation", generation, generations);
  within("attempt", attempt, attempts);
  return (incarnation * generations + generation) * attempts + attempt;
}

/** The three numbers that `packEpoch` made an epoch of. */
export function unpackEpoch(epoch: Epoch): EpochFields {
  const attempt = epoch % attempts;
  const rest = (epoch - attempt) / attempts;
  const generation = rest % generations;
  return { incarnation: (rest - generation) / generations, generation, attempt };
}

/** The highest epoch of all incarnations before this one: what claiming the session closes. */
export function lastEpochBefore(incarnation: number): Epoch {
  return incarnation * generations * attempts - 1;
}

/** The first epoch of the generation after this one's. */
export function nextGeneration(epoch: Epoch): Epoch {
  return epoch - (epoch % attempts) + attempts;
}

/**
 * True for the highest epoch of a generation, by which a driver closes what it has started so far. No
 * writer holds one: the intent of a call that a client carries out has it.
 */
export function isClosing(epoch: Epoch): boolean {
  return unpackEpoch(epoch).attempt === attempts - 1;
}

function within(name: string, value: number, limit: number): void {
  if (!Number.isInteger(value) || value < 0 || value >= limit) {
    throw new MillraceError(
      "invalid_epoch",
      `the ${name} of an epoch is 0 to ${limit - 1}, not ${value}`,
    );
  }
}
