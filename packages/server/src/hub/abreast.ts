import type { Cursor } from "@millrace/core/reading";
import type { Encoder } from "../encoding/encoding.ts";
import type { Ring } from "./ring.ts";

/** Messages that are written at once, at most. It bounds what is on its way to one viewer. */
export const messagesAtOnce = 32;

/** A place in the ring: all before the index was taken. */
export interface RingPlace {
  readonly index: number;
  /** Of the last message before it. Left out: nobody has taken one since the place was first held. */
  readonly cursor?: Cursor | undefined;
}

/** A delivery that is written to together with others. */
export interface Member {
  /**
   * Writes the bytes that lead from one place to the next. Must not throw. False: it has fallen out, or
   * left its room.
   */
  readonly push: (bytes: Uint8Array, from: RingPlace, to: RingPlace) => boolean;
  /** Goes on by itself from that place. */
  readonly fallOut: (from: RingPlace) => void;
}

/**
 * The deliveries of one encoder that have taken all that the room has, as most have. What is new is taken
 * and encoded once for all of them, so that each costs little more than its write. Their place is held
 * here; one that falls out takes it along.
 */
export class Abreast {
  readonly #encoder: Encoder;
  readonly #ring: Ring;
  readonly #members = new Set<Member>();
  #place: RingPlace;

  /** Holds the end of the ring. */
  constructor(encoder: Encoder, ring: Ring) {
    this.#encoder = encoder;
    this.#ring = ring;
    this.#place = { index: ring.end };
  }

  get size(): number {
    return this.#members.size;
  }

  get place(): RingPlace {
    return this.#place;
  }

  /** Takes in one that stands at the end of the ring. False: the others are not there yet. */
  add(member: Member): boolean {
    const isThere = this.#place.index === this.#ring.end;
    if (isThere) this.#members.add(member);
    return isThere;
  }

  delete(member: Member): void {
    this.#members.delete(member);
  }

  /** Writes what is new. All fall out if the ring has lost their place. */
  flush(): void {
    while (this.#members.size > 0 && this.#place.index < this.#ring.end) {
      if (this.#place.index < this.#ring.start) return this.scatter();
      this.#pushNext();
    }
  }

  /** All fall out. */
  scatter(): void {
    const members = [...this.#members];
    this.#members.clear();
    for (const member of members) member.fallOut(this.#place);
  }

  #pushNext(): void {
    const from = this.#place;
    const messages = this.#ring.since(from.index, messagesAtOnce);
    const to = { index: from.index + messages.length, cursor: messages.at(-1)?.cursor };
    const bytes = this.#encoder.encode(messages, true);
    this.#place = to;
    for (const member of this.#members)
      if (!member.push(bytes, from, to)) this.#members.delete(member);
  }
}
