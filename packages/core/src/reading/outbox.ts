/**
 * Values on their way to one slow reader. What is pushed waits; the writer waits in turn, by `drained`,
 * before it makes more, so that no more is held than one read of the writer brought.
 */
export class Outbox<T> {
  #values: T[] = [];
  /** True while the reader has nothing left and waits for the next value. */
  #idle = true;
  #ended: { readonly error?: unknown } | undefined;
  #pushed: PromiseWithResolvers<void> | undefined;
  #taken: PromiseWithResolvers<void> | undefined;

  push(values: readonly T[]): void {
    for (const value of values) this.#values.push(value);
    this.#wakeReader();
  }

  /** Ends the reading after what waits, with an error if one is given. Later calls do nothing. */
  end(end: { readonly error?: unknown } = {}): void {
    this.#ended ??= end;
    this.#wakeReader();
  }

  /** Resolves when the reader has come back after the last value, or has left. */
  async drained(): Promise<void> {
    if (this.#idle && this.#values.length === 0) return;
    this.#taken ??= Promise.withResolvers();
    await this.#taken.promise;
  }

  /** For one reader. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    try {
      for (;;) {
        while (this.#values.length > 0) {
          this.#idle = false;
          yield* this.#values.splice(0);
        }
        this.#wakeWriter();
        if (this.#ended !== undefined) break;
        this.#pushed = Promise.withResolvers();
        await this.#pushed.promise;
      }
      if ("error" in this.#ended) throw this.#ended.error;
    } finally {
      this.#wakeWriter();
    }
  }

  #wakeReader(): void {
    this.#pushed?.resolve();
    this.#pushed = undefined;
  }

  #wakeWriter(): void {
    this.#idle = true;
    this.#taken?.resolve();
    this.#taken = undefined;
  }
}
