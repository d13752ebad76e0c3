/**
 * How long a request may go without progress, by its kind, in milliseconds: until its token is there, then
 * until the head of its answer, then from one piece of the answer to the next. The stream is no such
 * request: the `durations` of its connection limit it.
 */
export const silenceMs = {
  /** What is sent, decided and stopped, and all that is read as JSON. */
  short: 15_000,
  /** Exports and blobs, which a server may have to make first. */
  file: 60_000,
  /** What the application's own function takes for a token. */
  token: 15_000,
} as const;

/** The bytes of a request have time of their own: those of the slowest line that is waited for. */
export const slowestBytesPerMs = 32;
