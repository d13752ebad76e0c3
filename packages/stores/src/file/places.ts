/** A line of a session's file: the number of facts before it, the byte at which it begins, its number. */
export interface Place {
  readonly head: number;
  readonly at: number;
  readonly number: number;
}

/** Where the lines of a file begin that a process has read or written, in their order. */
export class Places {
  /** Three numbers for each line, since a session may have many. */
  readonly #numbers: number[] = [];

  static of(places: Iterable<Place>): Places {
    const made = new Places();
    for (const place of places) made.add(place);
    return made;
  }

  get count(): number {
    return this.#numbers.length / 3;
  }

  /** Adds the next line. */
  add({ head, at, number }: Place): void {
    this.#numbers.push(head, at, number);
  }

  toArray(): readonly Place[] {
    return Array.from({ length: this.count }, (_, index) => this.at(index));
  }

  at(index: number): Place {
    const [head = 0, at = 0, number = 0] = this.#numbers.slice(3 * index, 3 * index + 3);
    return { head, at, number };
  }

  /** The last place at which no more than so many facts are before; undefined if there is none. */
  find(head: number): Place | undefined {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#numbers[3 * middle] as number) <= head) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? undefined : this.at(low - 1);
  }
}
