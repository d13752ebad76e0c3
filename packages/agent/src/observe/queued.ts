import type { RunEvent } from "@millrace/core";
import type { Observer } from "../definition/observer.ts";
import { attemptOf, isLive, mergeEvents } from "./queue-entries.ts";

/** Options of a queued observer. */
export interface QueueOptions {
  /** The most live events in the queue. 1,000 if left out. */
  readonly capacity?: number | undefined;
  /** Called for each event that is not handled: a live event without room, or any event after the end. */
  readonly onDropped?: ((event: RunEvent) => void) | undefined;
  /** Called with each error of the handler. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** When aborted, the queue is dropped, later events are refused, and `idle` does not wait for the handler. */
  readonly signal?: AbortSignal | undefined;
}

type Handle = (event: RunEvent) => void | Promise<void>;

/** An observer with a queue. Disposing it waits for the queue. */
export interface QueuedObserver extends Observer, AsyncDisposable {
  /** Resolves once all queued events have been handled. Never, if the handler never settles. */
  readonly idle: () => Promise<void>;
  /** The number of events in the queue. */
  readonly waiting: () => number;
}

/**
 * An observer for slow work, such as writes to a database or a network. The handler gets events one by
 * one and in order, some time after they happened. The run never waits for it. An error of the handler
 * goes to `onError`, and the next event follows.
 *
 * The queue is bounded. When it is full, neighbouring deltas of one part are merged, which loses
 * nothing. If that makes no room, a live event is dropped together with the rest of its attempt. So the
 * handler gets the start of an attempt, never one with a gap, and the committed item has all content.
 * Facts are never dropped: they may exceed the capacity, by about a dozen for each turn. Disposing
 * refuses later events and waits until the queue is handled; abort `signal` to stop at once.
 */
export function queuedObserver(handle: Handle, options: QueueOptions = {}): QueuedObserver {
  const queue = new Queue(handle, options);
  const observe = (event: RunEvent): void => queue.take(event);
  return Object.assign(observe, {
    idle: () => queue.idle(),
    waiting: () => queue.waiting(),
    [Symbol.asyncDispose]: () => queue.close(),
  });
}

class Queue {
  readonly #handle: Handle;
  readonly #options: QueueOptions;
  readonly #capacity: number;
  #events: RunEvent[] = [];
  /** The index of the first event that is not handled. An index makes `#shift` O(1). */
  #next = 0;
  #live = 0;
  /** How many events were added or removed since the queue was last merged. */
  #moved = Infinity;
  /** Attempts with a dropped event, each with its session. Their later events are dropped too. */
  readonly #broken = new Map<string, string>();
  #working = false;
  #closed = false;
  #idle: (() => void)[] = [];

  constructor(handle: Handle, options: QueueOptions) {
    this.#handle = handle;
    this.#options = options;
    this.#capacity = Math.max(1, options.capacity ?? 1_000);
    options.signal?.addEventListener("abort", () => this.#abandon(), { once: true });
    if (options.signal?.aborted === true) this.#abandon();
  }

  take(event: RunEvent): void {
    if (this.#closed) return this.#drop(event);
    if (!isLive(event)) {
      this.#forgetBroken(event);
      this.#push(event, 0);
    } else if (this.#broken.has(attemptOf(event)) || !this.#admit(event)) {
      this.#broken.set(attemptOf(event), event.sessionId);
      this.#drop(event);
    }
    if (this.#working || this.waiting() === 0) return undefined;
    this.#working = true;
    // In a microtask: the caller is the run itself.
    void Promise.resolve().then(() => this.#work());
  }

  async idle(): Promise<void> {
    if (!this.#working) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  waiting(): number {
    return this.#events.length - this.#next;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.idle();
  }

  async #work(): Promise<void> {
    for (let event = this.#shift(); event !== undefined; event = this.#shift()) {
      try {
        await this.#handle(event);
      } catch (error) {
        quietly(this.#options.onError, error);
      }
    }
    this.#settle();
  }

  #shift(): RunEvent | undefined {
    const event = this.#events[this.#next];
    if (event === undefined) return undefined;
    this.#next += 1;
    this.#moved += 1;
    if (isLive(event)) this.#live -= 1;
    // Handled events are removed when they are half of the list, so each event is moved at most once.
    if (this.#next * 2 >= this.#events.length) {
      this.#events = this.#events.slice(this.#next);
      this.#next = 0;
    }
    return event;
  }

  #push(event: RunEvent, live: number): void {
    this.#events.push(event);
    this.#live += live;
    this.#moved += 1;
  }

  /** Adds a live event if there is room, or if merging makes room. Returns false if not. */
  #admit(event: RunEvent): boolean {
    if (this.#live < this.#capacity) {
      this.#push(event, 1);
      return true;
    }
    // Usually the event continues the part of the last one.
    const last = this.#events.at(-1);
    const joined = last === undefined ? [] : mergeEvents([last, event]);
    if (joined.length === 1) {
      this.#events.splice(-1, 1, ...joined);
      return true;
    }
    // Merging is linear in the queue, so it runs only after a sixteenth of the capacity has changed.
    if (this.#moved * 16 < this.#capacity) return false;
    const waiting = this.#events.slice(this.#next);
    const fits = this.#merge([...waiting, event]);
    if (!fits) this.#merge(waiting);
    return fits;
  }

  /** Replaces the queue by these events, merged. Returns true if they fit. */
  #merge(events: readonly RunEvent[]): boolean {
    this.#events = [...mergeEvents(events)];
    this.#next = 0;
    this.#live = this.#events.filter(isLive).length;
    this.#moved = 0;
    return this.#live <= this.#capacity;
  }

  /** Forgets broken attempts at the end of a turn or run: its lanes are closed, so no event follows. */
  #forgetBroken(fact: RunEvent): void {
    if (this.#broken.size === 0) return;
    if (fact.type !== "turn_finished" && fact.type !== "run_finished") return;
    for (const [attempt, sessionId] of this.#broken) {
      if (sessionId === fact.sessionId) this.#broken.delete(attempt);
    }
  }

  #drop(event: RunEvent): void {
    quietly(this.#options.onDropped, event);
  }

  #abandon(): void {
    this.#closed = true;
    const waiting = this.#events.slice(this.#next);
    this.#events = [];
    this.#next = 0;
    this.#live = 0;
    for (const event of waiting) this.#drop(event);
    this.#settle();
  }

  #settle(): void {
    this.#working = false;
    for (const done of this.#idle) done();
    this.#idle = [];
  }
}

function quietly<T>(report: ((value: T) => void) | undefined, value: T): void {
  try {
    report?.(value);
  } catch {
    // An error of the user's callback must not stop the queue.
  }
}
