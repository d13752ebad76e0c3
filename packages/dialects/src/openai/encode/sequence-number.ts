/** How far a reader is in a response, and by which attempts what it has was written. */
export interface ReaderPlace {
  /** The characters of texts and the other events up to here. */
  readonly position: number;
  readonly mark: number;
}

/**
 * A sequence number is a position, the mark of the attempts up to it, and one bit that is set on errors only:
 * 29, 23 and 1 bits. Numbers rise with the position. A response with 2^29 characters would be longer than a
 * string of V8 can be, so it has no last event.
 */
const errorBit = 1;
const placeSize = 2 ** 24;

/**
 * The largest prime below 2^23 with this property: two epochs that are less than 1,000 takeovers, 256 writers and
 * 16 attempts of an engine apart never leave the same remainder. Others do by chance, one in 8 million.
 */
const prime = 8_388_301;
/** Spreads what earlier attempts were, so that the mark depends on all of them. */
const spread = 65_599;

/** The mark of a response of which nothing was written by an attempt. */
export const noMark = 0;

/** The mark after another attempt has written something: of its number, and of all before it. */
export function markAfter(mark: number, attempt: number): number {
  return (mark * spread + (attempt % prime) + prime) % prime;
}

/** The sequence number of an event. */
export function numberOf({ position, mark }: ReaderPlace): number {
  return position * placeSize + mark * (errorBit + 1);
}

/** The number of an error that follows the event of this number: a reader that goes on from either has the same. */
export function errorNumberAfter(number: number): number {
  return number % 2 === errorBit ? number : number + errorBit;
}

/** What a reader has that goes on after this number. */
export function placeOf(number: number): ReaderPlace {
  const rest = number % placeSize;
  return { position: (number - rest) / placeSize, mark: Math.floor(rest / (errorBit + 1)) };
}
