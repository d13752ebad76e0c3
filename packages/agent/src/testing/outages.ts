import type { EventLog, SessionStore } from "@millrace/core/ports";
import { memoryEventLog } from "@millrace/core/memory";
import type { ManualClock } from "@millrace/core/testing";

/** The calls of a store that write. */
export type StoreWrite = "accept" | "claim" | "open" | "commit" | "append";

/** A store that can be away, and that can carry a write out and lose its answer. */
export interface FlakyStore {
  readonly store: SessionStore;
  /** While true every call is refused, and nothing is stored. */
  away: boolean;
  /** While true the disk of the store is full: reads are answered. */
  full: boolean;
  /** The next call of this sort is carried out, and rejects. */
  loseAnswerOf: StoreWrite | undefined;
  /** Called before each call with its name. */
  onCall: (name: string) => void;
  /** How often a call was refused or its answer lost. */
  failures: number;
}

const writes: ReadonlySet<string> = new Set<StoreWrite>([
  "accept",
  "claim",
  "open",
  "commit",
  "append",
]);

/** Makes a store fail as a database does: its calls reject with errors of its client. */
export function flakyStore(given: SessionStore): FlakyStore {
  const flaky: FlakyStore = {
    store: given,
    away: false,
    full: false,
    loseAnswerOf: undefined,
    onCall: () => undefined,
    failures: 0,
  };
  const lost = (why: string): Error => {
    flaky.failures += 1;
    return new Error(why);
  };
  const guard =
    <Given extends readonly unknown[], Answer>(
      name: string,
      call: (...given: Given) => Promise<Answer>,
    ) =>
    async (...asked: Given): Promise<Answer> => {
      flaky.onCall(name);
      await Promise.resolve();
      if (flaky.away) throw lost("connect ECONNREFUSED");
      if (flaky.full && writes.has(name))
        throw Object.assign(lost("no space left on device, write"), { code: "ENOSPC" });
      const answer = await call(...asked);
      if (flaky.loseAnswerOf !== name) return answer;
      flaky.loseAnswerOf = undefined;
      throw lost("Connection terminated unexpectedly");
    };
  const { find, read, head, heads, key, floors, claimedBy } = given;
  const { accept, claim, open, commit, append } = given;
  const store: SessionStore = {
    ...given,
    find: guard("find", find),
    read: guard("read", read),
    head: guard("head", head),
    ...(heads === undefined ? {} : { heads: guard("heads", heads) }),
    key: guard("key", key),
    floors: guard("floors", floors),
    claimedBy: guard("claimedBy", claimedBy),
    accept: guard("accept", accept),
    claim: guard("claim", claim),
    open: guard("open", open),
    commit: guard("commit", commit),
    append: guard("append", append),
  };
  return Object.assign(flaky, { store });
}

/** A log that can be away. Its subscriptions break then, as those of a server that ends. */
export interface FlakyLog {
  readonly log: EventLog;
  readonly cut: () => void;
  readonly restore: () => void;
}

/** Makes a log fail as a server does. What is announced while it is away is lost. */
export function flakyLog(given: EventLog = memoryEventLog()): FlakyLog {
  let away: AbortController | undefined;
  let up = new AbortController();
  const reach = async <T>(call: () => Promise<T>): Promise<T> => {
    if (away !== undefined) throw new Error("Socket closed unexpectedly");
    return await call();
  };
  const { announce, append, read, nudge } = given;
  const log: EventLog = {
    ...given,
    announce: (uid, fact) => reach(() => announce(uid, fact)),
    append: (uid, batch) => reach(() => append(uid, batch)),
    read: (uid, lane, after) => reach(() => read(uid, lane, after)),
    nudge: (uid, sent) => reach(() => nudge(uid, sent)),
    heads: (uid, options) =>
      reach(async () => breakable(up.signal, (signal) => given.heads(uid, { signal }), options)),
    tail: (uid, options) =>
      reach(async () => breakable(up.signal, (signal) => given.tail(uid, { signal }), options)),
    nudges: (uid, options) =>
      reach(async () => breakable(up.signal, (signal) => given.nudges(uid, { signal }), options)),
  };
  return {
    log,
    cut: () => {
      away = up;
      up.abort();
    },
    restore: () => {
      away = undefined;
      up = new AbortController();
    },
  };
}

/** A subscription that throws when `broken` is aborted, and ends when its own signal is. */
async function breakable<T>(
  broken: AbortSignal,
  subscribe: (signal: AbortSignal) => Promise<AsyncIterable<T>>,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<AsyncIterable<T>> {
  const { signal } = options;
  const either = signal === undefined ? broken : AbortSignal.any([broken, signal]);
  const messages = await subscribe(either);
  return (async function* relay() {
    yield* messages;
    if (broken.aborted && signal?.aborted !== true) throw new Error("Socket closed unexpectedly");
  })();
}

/** Waits until the condition holds, while the clock of the test stands still. */
export async function reached(condition: () => boolean): Promise<void> {
  const start = performance.now();
  while (!condition()) {
    if (performance.now() - start > 30_000) throw new Error("not reached within 30 s");
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Moves the clock in steps of 50 ms until the condition holds. Returns the time that passed, or Infinity. */
export async function passUntil(
  clock: ManualClock,
  condition: () => boolean,
  mostMs = 60_000,
): Promise<number> {
  for (let ms = 0; ms <= mostMs; ms += 50) {
    if (condition()) return ms;
    await clock.advance(50);
    // Hashes are computed on other threads, which no clock of a test moves.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return Infinity;
}

/** Lets that much time pass, in the same steps. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  await passUntil(clock, () => false, ms - 50);
}
