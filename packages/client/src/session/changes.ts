/**
 * Yields at once, and again after each change of a session, until its consumer leaves or the session is
 * closed here. Changes that come while the consumer works are one.
 */
export async function* changesOf(
  watch: (listener: () => void) => () => void,
  closed: AbortSignal,
): AsyncGenerator<void, void> {
  let isNew = true;
  let wake: (() => void) | undefined;
  const note = (): void => {
    isNew = true;
    wake?.();
  };
  const unwatch = watch(note);
  closed.addEventListener("abort", note, { once: true });
  try {
    while (isNew || !closed.aborted) {
      if (isNew) {
        isNew = false;
        yield;
      } else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    unwatch();
    closed.removeEventListener("abort", note);
  }
}
