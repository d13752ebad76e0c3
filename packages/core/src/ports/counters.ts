/**
 * Counts what limits are about: what is used within windows of time, and what is held at once. Shared by
 * processes or not. Every call may reject while the counters are away; the caller decides what then holds.
 */
export interface Counters {
  /**
   * Adds to the counter of a key, if that does not go above the limit. A window begins with the first
   * amount that is added and ends after `windowMs`; the next one begins at 0.
   */
  readonly take: (request: CounterRequest) => CounterState | Promise<CounterState>;
  /**
   * Holds one of the `limit` places of a key, and gives whether it is held. A holder has one place however
   * often it asks, and in however many processes: asking again renews it. The place is free when each
   * process has given it back, or has not renewed it within `leaseMs`: one that died holds nothing for ever.
   */
  readonly hold: (request: HoldRequest) => boolean | Promise<boolean>;
  /** Gives a place back, as far as this process has it. Nothing happens if it is not held. */
  readonly release: (request: Omit<HoldRequest, "limit" | "leaseMs">) => void | Promise<void>;
}

/** One use of a counter. */
export interface CounterRequest {
  /** Any text. */
  readonly key: string;
  /** May be infinite. */
  readonly limit: number;
  readonly windowMs: number;
  /** A whole number from 0. 1 if left out. 0 reads. */
  readonly amount?: number | undefined;
  /** Adds also above the limit: for what has happened already and can't be refused. */
  readonly beyond?: boolean | undefined;
}

/** A counter after a use. */
export interface CounterState {
  /** False: nothing was added. */
  readonly taken: boolean;
  /** What is left below the limit. Never negative. */
  readonly remaining: number;
  /** Until the window ends, rounded up to whole seconds. Of a window that has not begun: its length. */
  readonly leftMs: number;
}

/** One place of a key, and who holds it. */
export interface HoldRequest {
  /** Any text. Places and counters of one key have nothing to do with each other. */
  readonly key: string;
  /** Names who holds it, uniquely in all processes. */
  readonly holder: string;
  /** Names the process, where several may hold the place of one holder. Left out: there is only one. */
  readonly by?: string | undefined;
  /** May be infinite. */
  readonly limit: number;
  readonly leaseMs: number;
}
