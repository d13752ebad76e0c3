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
   * Calls back once, after that long; the result takes the call back, and may be called at any time. Never
   * calls before it has returned. Like `sleep` it keeps a process alive until it has called or was taken
   * back; with `idle`, a process that waits for nothing else may end. The call must not throw.
   */
  readonly after: (
    ms: number,
    call: () => void,
    options?: { readonly idle?: boolean | undefined },
  ) => () => void;
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
export const randomId: MakeId = idsFrom();

/**
 * Such ids, whose bits come from the given source: no harder to guess than it is. Left out, or the machine's own:
 * by its source for secrets.
 */
export function idsFrom(random?: () => number): MakeId {
  return (sort) => (sort === "session" ? shortId(random) : `${sort}_${uniqueName(random)}`);
}

/** 32 hexadecimal digits that nothing else is named by. The source is that of `idsFrom`. */
export function uniqueName(random?: () => number): string {
  if (isMachines(random)) return crypto.randomUUID().replaceAll("-", "");
  return Array.from(bytesFrom(random), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The machine's chance, in [0, 1): for pauses that are to differ. No id and no secret is made of it. */
// eslint-disable-next-line no-restricted-properties -- the one place that others come to
export const systemRandom = (): number => Math.random();

function isMachines(random: (() => number) | undefined): random is undefined {
  return random === undefined || random === systemRandom;
}

/** 64 of them, so that each takes six bits; two stand twice. */
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789xy";

function shortId(random: (() => number) | undefined): string {
  const bytes = bytesFrom(random);
  return Array.from(bytes, (byte) => letters.charAt(byte % letters.length)).join("");
}

function bytesFrom(random: (() => number) | undefined): Uint8Array {
  const bytes = new Uint8Array(16);
  if (isMachines(random)) return crypto.getRandomValues(bytes);
  return bytes.map(() => Math.floor(random() * 256));
}
