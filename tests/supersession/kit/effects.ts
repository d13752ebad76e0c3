import type { Epoch } from "@millrace/core/ports";

/** What had taken effect when a call began, and so binds it. */
export interface Before {
  readonly incarnation: number;
  readonly floor: Epoch;
  readonly logged: Epoch;
}

/**
 * What has taken effect in one session, as far as answers show. A call that began after an answer
 * came after that one's effect, so it may not have an effect that the other forbids.
 */
export class Effects {
  readonly faults: string[] = [];
  /** The epoch that stored an item, by its id. */
  readonly committed = new Map<string, Epoch>();
  tick = 0;
  incarnation = 0;
  readonly #floors = new Map<number, Epoch>();
  readonly #logged = new Map<number, Epoch>();

  before(lane: number): Before {
    return {
      incarnation: this.incarnation,
      floor: this.#floors.get(lane) ?? 0,
      logged: this.#logged.get(lane) ?? 0,
    };
  }

  claimed(incarnation: number, before: Before): void {
    this.#expect(incarnation > before.incarnation, `claimed ${incarnation} again`);
    this.incarnation = Math.max(this.incarnation, incarnation);
  }

  appended(incarnation: number, before: Before): void {
    this.#expect(incarnation >= before.incarnation, `${incarnation} appended after a claim`);
  }

  opened(lane: number, epoch: Epoch, before: Before): void {
    this.#expect(epoch > before.floor, `${epoch} opened under the floor ${before.floor}`);
    this.#floors.set(lane, Math.max(epoch, this.#floors.get(lane) ?? 0));
  }

  stored(lane: number, epoch: Epoch, before: Before): void {
    this.#expect(epoch >= before.logged, `${epoch} was logged after ${before.logged}`);
    this.#logged.set(lane, Math.max(epoch, this.#logged.get(lane) ?? 0));
  }

  committedBy(id: string, epoch: Epoch, before: Before): void {
    this.#expect(epoch >= before.floor, `${epoch} committed under the floor ${before.floor}`);
    this.#expect(!this.committed.has(id), `${id} was committed twice`);
    this.committed.set(id, epoch);
  }

  fault(what: string): void {
    this.faults.push(what);
  }

  #expect(holds: boolean, what: string): void {
    if (!holds) this.fault(what);
  }
}
