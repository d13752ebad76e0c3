import type { Followed } from "@millrace/core/reading";

const nothing: readonly Followed[] = [];
/** How many spans are remembered. Viewers stand at few different indexes, most at the end. */
const spansAtMost = 8;

/**
 * The last messages of a room, shared by its viewers. A viewer holds an index and no copies, so that
 * one that never reads costs no more than one that does. Every message gets the next index; indexes
 * are never reused. The room's mirror pushes, viewers read with `since`.
 *
 * A viewer whose index is below `start` has fallen out. It is resynchronised from the room's state.
 */
export class Ring {
  readonly #capacity: number;
  readonly #held: Followed[] = [];
  /** For each held message the bytes of all before it. */
  readonly #before: number[] = [];
  #bytes = 0;
  /** The arrays given out since the last push, by their first index. */
  readonly #spans = new Map<number, readonly Followed[]>();
  #start = 0;
  #end = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The index of the oldest message that is held. */
  get start(): number {
    return this.#start;
  }

  /** The index that the next message gets. */
  get end(): number {
    return this.#end;
  }

  /** `bytes`: how many it has for a viewer. */
  push(followed: Followed, bytes: number): void {
    this.#spans.clear();
    this.#held[this.#end % this.#capacity] = followed;
    this.#before[this.#end % this.#capacity] = this.#bytes;
    this.#bytes += bytes;
    this.#end += 1;
    this.#start = Math.max(this.#start, this.#end - this.#capacity);
  }

  at(index: number): Followed | undefined {
    return index < this.#start || index >= this.#end
      ? undefined
      : this.#held[index % this.#capacity];
  }

  /** The bytes of the held messages from an index on. */
  bytesSince(index: number): number {
    if (index >= this.#end) return 0;
    const from = this.#before[Math.max(index, this.#start) % this.#capacity];
    return this.#bytes - (from ?? this.#bytes);
  }

  /**
   * At most so many messages from an index on. Between two pushes, equal calls give the same array
   * (as long as it is remembered): an array is encoded once for all viewers that hold it.
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

  /** Invalidates every viewer's index; each is resynchronised from the state. */
  skip(): void {
    this.#spans.clear();
    this.#held.length = 0;
    // One more than the last index: a viewer that has read to the end must fall out too.
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
