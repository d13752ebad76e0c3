interface Given {
  readonly what: string;
  readonly at: number;
  isSettled: boolean;
}

/** The promises that callers were given: each has to settle. */
export class GivenPromises {
  readonly #given: Given[] = [];
  readonly #now: () => number;
  readonly #note: (line: string) => void;

  /** `now` in milliseconds; `note` is called with a line for each promise that settles. */
  constructor(now: () => number, note: (line: string) => void = () => undefined) {
    this.#now = now;
    this.#note = note;
  }

  /** Returns the promise. It may be awaited or left alone. */
  watch<T>(what: string, promise: Promise<T>): Promise<T> {
    const given: Given = { what, at: this.#now(), isSettled: false };
    this.#given.push(given);
    const settle = (how: string) => (): void => {
      given.isSettled = true;
      this.#note(`${what} ${how}`);
    };
    promise.then(settle("settles"), settle("rejects"));
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
