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
}

/** Makes ids that are never made twice. The name of the sort may show in the id. */
export type MakeId = (sort: "session" | "run" | "turn" | "item" | "input" | "approval") => string;

/** Ids with 122 random bits, as `run_…`. */
export const randomId: MakeId = (sort) => `${sort}_${crypto.randomUUID().replaceAll("-", "")}`;
