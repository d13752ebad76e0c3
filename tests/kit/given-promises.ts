interface Given {
  readonly what: string;
  readonly at: number;
  isSettled: boolean;
}

/** The promises that callers were given: each has to settle. */
export class GivenPromises {
  readonly #given: Given[] = [];
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the promise. It may be awaited or left alone. */
  watch<T>(what: string, promise: Promise<T>): Promise<T> {
    const given: Given = { what, at: this.#now(), isSettled: false };
    this.#given.push(given);
    const settle = (): void => void (given.isSettled = true);
    promise.then(settle, settle);
    return promise;
  }

  get areSettled(): boolean {
    return this.#given.every(({ isSettled }) => isSettled);
  }

  /** Those that have not settled. */
  open(): readonly string[] {
    return this.#given
      .filter(({ isSettled }) => !isSettled)
      .map(({ what, at }) => `${what} is open for ${Math.round((this.#now() - at) / 1_000)} s`);
  }
}
