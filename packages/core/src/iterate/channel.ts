/** A queue between one writer and one reader who may be at different speeds. */
export interface Channel<T> extends AsyncIterable<T> {
  readonly push: (value: T) => void;
  /** Lets the reader take what is there, then ends it. */
  readonly end: () => void;
}

/**
 * At most `capacity` values wait; above that the oldest is dropped, which suits announcements that
 * may be lost. Taking and pushing cost O(1). `onEnd` is called once, when either side is done.
 */
export function createChannel<T>(capacity: number, onEnd?: () => void): Channel<T> {
  let values: T[] = [];
  let start = 0;
  let ended = false;
  let pause: PromiseWithResolvers<void> | undefined;

  const notify = (): void => {
    pause?.resolve();
    pause = undefined;
  };
  const end = (): void => {
    if (ended) return;
    ended = true;
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
  // Written out instead of a generator: leaving one that waits, or that was never started, would
  // not reach its end, and the writer would go on for nobody.
  const next = async (): Promise<IteratorResult<T, undefined>> => {
    for (;;) {
      if (start < values.length) {
        const value = values[start] as T;
        start += 1;
        return { done: false, value };
      }
      if (ended) return { done: true, value: undefined };
      values = [];
      start = 0;
      pause ??= Promise.withResolvers();
      await pause.promise;
    }
  };
  const leave = async (): Promise<IteratorResult<T, undefined>> => {
    values = [];
    start = 0;
    end();
    return { done: true, value: undefined };
  };
  return { push, end, [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}
