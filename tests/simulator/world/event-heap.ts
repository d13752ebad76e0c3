import type { SimulatedProcess } from "./simulated-process.ts";

/** Something that happens in a process at a time. */
export interface ScheduledEvent {
  at: number;
  /** Of those at the same time, the one that was scheduled first happens first. */
  readonly order: number;
  readonly owner: SimulatedProcess;
  readonly what: string;
  readonly call: () => void;
  /** Timers are not written to the trace. */
  readonly isTimer: boolean;
  /** Events of one channel, such as a connection, keep their order when a process was paused. */
  readonly channel: string;
  isDone: boolean;
}

/** A binary heap: events come out in one total order, by time and then by when they were scheduled. */
export class EventHeap {
  readonly #events: ScheduledEvent[] = [];

  get first(): ScheduledEvent | undefined {
    return this.#events[0];
  }

  push(event: ScheduledEvent): void {
    const events = this.#events;
    let at = events.push(event) - 1;
    for (let parent = (at - 1) >> 1; at > 0 && this.#isBefore(at, parent); parent = (at - 1) >> 1) {
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): ScheduledEvent | undefined {
    const events = this.#events;
    const first = events[0];
    const last = events.pop();
    if (last === undefined || events.length === 0) return first;
    events[0] = last;
    for (let at = 0; ;) {
      const [left, right] = [2 * at + 1, 2 * at + 2];
      let least = at;
      if (left < events.length && this.#isBefore(left, least)) least = left;
      if (right < events.length && this.#isBefore(right, least)) least = right;
      if (least === at) return first;
      this.#swap(at, least);
      at = least;
    }
  }

  #isBefore(left: number, right: number): boolean {
    const [one, other] = [this.#events[left], this.#events[right]];
    if (one === undefined || other === undefined) return false;
    return one.at < other.at || (one.at === other.at && one.order < other.order);
  }

  #swap(left: number, right: number): void {
    const [one, other] = [this.#events[left], this.#events[right]];
    if (one === undefined || other === undefined) return;
    this.#events[left] = other;
    this.#events[right] = one;
  }
}
