/**
 * A list that only grows, as a value: `append` gives a longer list and leaves this one as it was.
 * Lists that grew from one another share their storage, so appending costs O(1), where copying an
 * array would make a long session quadratic. Appending twice to the same list copies once.
 */
export class List<T> implements Iterable<T> {
  readonly length: number;
  readonly #rows: T[];

  private constructor(rows: T[], length: number) {
    this.#rows = rows;
    this.length = length;
  }

  static of<T>(rows: Iterable<T> = []): List<T> {
    const copy = [...rows];
    return new List(copy, copy.length);
  }

  /** The same for lists that grew from one another by `append`: each is a beginning of the longest. */
  get origin(): object {
    return this.#rows;
  }

  append(row: T): List<T> {
    const shared = this.#rows.length === this.length;
    const rows = shared ? this.#rows : this.#rows.slice(0, this.length);
    rows.push(row);
    return new List(rows, this.length + 1);
  }

  /** A copy with one row exchanged. Linear. */
  with(index: number, row: T): List<T> {
    return List.of(this.toArray().with(index, row));
  }

  at(index: number): T | undefined {
    const place = index < 0 ? this.length + index : index;
    return place < this.length ? this.#rows[place] : undefined;
  }

  /** From the end, because what is looked for is mostly new. */
  findLastIndex(predicate: (row: T) => boolean): number {
    for (let at = this.length - 1; at >= 0; at -= 1) {
      if (predicate(this.#rows[at] as T)) return at;
    }
    return -1;
  }

  toArray(): readonly T[] {
    return this.#rows.slice(0, this.length);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let at = 0; at < this.length; at += 1) yield this.#rows[at] as T;
  }
}
