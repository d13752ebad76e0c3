/** A queue between one writer and one reader of different speeds. */
export interface Channel<T> extends AsyncIterable<T> {
  readonly push: (value: T) => void;
  /** Ends the iteration after the values that wait. */
  readonly end: () => void;
  /** Makes the iteration throw, once, after the values that wait. */
  readonly fail: (error: Error) => void;
}

/**
 * At most `capacity` values wait; above that the oldest is dropped, which suits announcements that
 * may be lost. Taking and pushing cost O(1). `onEnd` is called once, when either side is done.
 */
export function createChannel<T>(capacity: number, onEnd?: () => void): Channel<T> {
  let values: T[] = [];
  let start = 0;
  let ended = false;
  let failure: Error | undefined;
  let pause: PromiseWithResolvers<void> | undefined;

  const notify = (): void => {
    pause?.resolve();
    pause = undefined;
  };
  const close = (error?: Error): void => {
    if (ended) return;
    ended = true;
    failure = error;
    onEnd?.();
    notify();
  };
  const push = (value: T): void => {
    if (ended) return;
    values.push(value);
    if (values.length - start > capacity) start += 1;
    // The dropped and taken ones are cut off in bulk: an array's own shift would cost O(n) each.
    if (start > capacity) {
      values = values.slice(start);
      start = 0;
    }
    notify();
  };
  // Written out instead of a generator: `return` on one that waits, or that was never started, would
  // not run its end, and the writer would go on without a reader.
  const next = async (): Promise<IteratorResult<T, undefined>> => {
    for (;;) {
      if (start < values.length) {
        const value = values[start] as T;
        start += 1;
        return { done: false, value };
      }
      values = [];
      start = 0;
      if (ended) break;
      pause ??= Promise.withResolvers();
      await pause.promise;
    }
    const error = failure;
    failure = undefined; // the next call is at the end
    if (error !== undefined) throw error;
    return { done: true, value: undefined };
  };
  const leave = async (): Promise<IteratorResult<T, undefined>> => {
    values = [];
    start = 0;
    failure = undefined;
    close();
    return { done: true, value: undefined };
  };
  return {
    push,
    end: () => close(),
    fail: close,
    [Symbol.asyncIterator]: () => ({ next, return: leave }),
  };
}
