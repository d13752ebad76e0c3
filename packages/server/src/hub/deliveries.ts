import type { Encoder } from "../encoding/encoding.ts";
import { Abreast } from "./abreast.ts";
import type { Member, RingPlace } from "./abreast.ts";
import type { Ring } from "./ring.ts";

/** A delivery as its room knows it. Its methods must not throw. */
export interface Attached extends Member {
  /** Writes what is new to the sink, or ends the delivery if the room has closed. */
  readonly pump: () => void;
}

/** The deliveries of a room: those that go by themselves, and those that stand abreast. */
export class Deliveries {
  readonly #ring: Ring;
  readonly #alone = new Set<Attached>();
  readonly #abreast = new Map<Encoder, Abreast>();

  constructor(ring: Ring) {
    this.#ring = ring;
  }

  get isEmpty(): boolean {
    return this.#alone.size === 0 && this.#abreast.size === 0;
  }

  /** It goes by itself. */
  add(delivery: Attached): void {
    this.#alone.add(delivery);
  }

  /** One that has taken all, in step, is written to with the others. False: those are not there yet. */
  join(delivery: Attached, encoder: Encoder): boolean {
    let group = this.#abreast.get(encoder);
    if (group === undefined) {
      group = new Abreast(encoder, this.#ring);
      this.#abreast.set(encoder, group);
    }
    if (!group.add(delivery)) return false;
    this.#alone.delete(delivery);
    return true;
  }

  /** Takes it out, wherever it is. Returns the place of the others that it stood abreast with. */
  delete(delivery: Attached, encoder: Encoder): RingPlace | undefined {
    this.#alone.delete(delivery);
    const group = this.#abreast.get(encoder);
    group?.delete(delivery);
    if (group?.size === 0) this.#abreast.delete(encoder);
    return group?.place;
  }

  /** Writes what has arrived to all. */
  flush(): void {
    for (const [encoder, group] of this.#abreast) {
      group.flush();
      if (group.size === 0) this.#abreast.delete(encoder);
    }
    for (const delivery of this.#alone) delivery.pump();
  }

  /** From now on each goes by itself. */
  scatter(): void {
    for (const group of this.#abreast.values()) group.scatter();
    this.#abreast.clear();
  }
}
