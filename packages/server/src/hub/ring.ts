import type { Followed } from "@millrace/core/reading";

const nothing: readonly Followed[] = [];
/** Viewers are at few different places: most where the last one ended. */
const spansAtMost = 8;

/**
 * The last things told to viewers, shared by all of them: a viewer holds an index and no copies, so
 * that one who never reads costs no more than one who does. Each thing has the next index, for ever.
 */
export class Ring {
  readonly #capacity: number;
  readonly #held: Followed[] = [];
  /** What was asked for since the last one came. */
  readonly #spans = new Map<number, readonly Followed[]>();
  #start = 0;
  #end = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The index of the oldest that is held. Whoever needs an older one has fallen out. */
  get start(): number {
    return this.#start;
  }

  /** The index that the next one gets. */
  get end(): number {
    return this.#end;
  }

  push(followed: Followed): void {
    this.#spans.clear();
    this.#held[this.#end % this.#capacity] = followed;
    this.#end += 1;
    this.#start = Math.max(this.#start, this.#end - this.#capacity);
  }

  at(index: number): Followed | undefined {
    return index < this.#start || index >= this.#end
      ? undefined
      : this.#held[index % this.#capacity];
  }

  /**
   * At most so many from an index on. Whoever asks for the same before another one comes is given the
   * same array, so that what is made of it can be shared.
   */
  since(index: number, atMost: number): readonly Followed[] {
    if (index >= this.#end) return nothing;
    const end = Math.min(this.#end, index + atMost);
    const known = this.#spans.get(index);
    if (known?.length === end - index) return known;
    const span: Followed[] = [];
    for (let at = index; at < end; at += 1) {
      const followed = this.at(at);
      if (followed !== undefined) span.push(followed);
    }
    if (this.#spans.size === spansAtMost) this.#spans.clear();
    this.#spans.set(index, span);
    return span;
  }

  /** Everybody who has not read to the end falls out, and so does whoever has: what follows skips. */
  skip(): void {
    this.#spans.clear();
    this.#held.length = 0;
    this.#end += 1;
    this.#start = this.#end;
  }

  /** From the oldest to the newest. */
  *[Symbol.iterator](): Generator<Followed, void, undefined> {
    for (let index = this.#start; index < this.#end; index += 1) {
      const followed = this.at(index);
      if (followed !== undefined) yield followed;
    }
  }
}
