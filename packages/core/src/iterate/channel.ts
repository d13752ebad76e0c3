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
  let wake: (() => void) | undefined;

  const notify = (): void => {
    wake?.();
    wake = undefined;
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
  async function* read(): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        if (start < values.length) {
          const value = values[start] as T;
          start += 1;
          yield value;
        } else if (ended) {
          return;
        } else {
          values = [];
          start = 0;
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      end();
    }
  }
  return { push, end, [Symbol.asyncIterator]: read };
}
