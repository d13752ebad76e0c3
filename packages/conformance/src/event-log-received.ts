import type { Fact, SessionUid } from "@millrace/core";
import type { Batch, EventLog } from "@millrace/core/ports";
import { assert, within } from "./case.ts";

/** The messages of a subscription so far. */
export interface Received<T> {
  readonly all: readonly T[];
  /** Waits until this many have arrived. */
  readonly until: (count: number) => Promise<readonly T[]>;
  /** Settles when the subscription ends. */
  readonly ended: Promise<void>;
}

/** Tails a session in the background, until the end of the scope. */
export async function tailSession(
  log: EventLog,
  uid: SessionUid,
): Promise<Received<Fact | Batch> & Disposable> {
  const end = new AbortController();
  const received = collect(await log.tail(uid, { signal: end.signal }));
  return { ...received, [Symbol.dispose]: () => end.abort() };
}

/** Reads a subscription in the background. */
export function collect<T>(subscription: AsyncIterable<T>): Received<T> {
  const all: T[] = [];
  let wake = (): void => undefined;
  let over = false;
  const read = async (): Promise<void> => {
    try {
      for await (const message of subscription) {
        all.push(message);
        wake();
      }
    } finally {
      over = true;
      wake();
    }
  };
  const ended = read();
  const until = async (count: number): Promise<readonly T[]> => {
    while (all.length < count) {
      assert(!over, `the subscription ended after ${all.length} of ${count}`);
      const next = new Promise<void>((resolve) => {
        wake = resolve;
      });
      await within(next, `only ${all.length} of ${count} came`);
    }
    return all.slice(0, count);
  };
  return { all, until, ended };
}
