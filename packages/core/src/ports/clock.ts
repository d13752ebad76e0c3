/** Time comes in through here, so that a test can hold it still. Clocks order nothing. */
export interface Clock {
  /** Milliseconds since 1970, by this host. It may jump, and hosts disagree: for showing only. */
  readonly now: () => number;
  /** Milliseconds since some moment. It never goes back: every duration is measured by this. */
  readonly monotonic: () => number;
  /** Resolves after that long, or as soon as the signal is aborted. Never rejects. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** The same, but a process that waits for nothing else may end. For polls. Left out: `sleep` is used. */
  readonly idle?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /**
   * Milliseconds in which this process's event loop was not idle, so far. Time that other processes take
   * counts as busy. Left out: not known, and windows stay as short as they may be.
   */
  readonly busyMs?: () => number;
}

/** Makes ids that are never made twice. The name of the sort may show in the id. */
export type MakeId = (sort: "session" | "run" | "turn" | "item" | "input" | "approval") => string;

/**
 * Ids with 122 random bits, as `run_…`. That of a session is 16 letters and digits with 95 random bits: a
 * session's uid stands in every cursor, and so in every message to every viewer.
 */
export const randomId: MakeId = (sort) =>
  sort === "session" ? shortId() : `${sort}_${crypto.randomUUID().replaceAll("-", "")}`;

/** 64 of them, so that each takes six bits; two stand twice. */
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789xy";

function shortId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => letters.charAt(byte % letters.length)).join("");
}
