import type { RunEvent } from "@millrace/core";
import type { Observer } from "../definition/observer.ts";
import { attemptOf, mergeEvents } from "./queue-entries.ts";

/** The bounds of a queued observer, and where its losses and errors go. */
export interface QueueOptions {
  /** The live events that wait, at most. 1,000 if left out. */
  readonly capacity?: number | undefined;
  /** Told of what is not handled: a live event without room, and whatever comes after the end. */
  readonly onDropped?: ((event: RunEvent) => void) | undefined;
  /** Told of what the handler throws. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Aborted: what waits is dropped, nothing more is taken, and nobody waits for the handler. */
  readonly signal?: AbortSignal | undefined;
}

type Handle = (event: RunEvent) => void | Promise<void>;

/** An observer that hands on. */
export interface QueuedObserver extends Observer, AsyncDisposable {
  /** Settles once all that was taken has been handled. Never, if the handler never ends. */
  readonly idle: () => Promise<void>;
  /** The events that wait now. */
  readonly waiting: () => number;
}

/**
 * An observer for work that takes time, such as a database or a network. Events are handled one by
 * one, in order, after the moment in which they happened; the run never waits, and what the handler
 * throws is told to `onError` and is over.
 *
 * The queue is bounded. When it is full, neighbouring deltas of one part are merged, which loses
 * nothing. If that makes no room, a live event is dropped, and with it the rest of its attempt: the
 * handler has seen a beginning, never one with a hole, and the item that is committed has it all.
 * Facts are never dropped: beyond its capacity the queue grows by them alone, which are few, a dozen
 * or so for each turn. Disposing takes nothing more and waits for what waits; see `signal`.
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
  /** Those before it are handled. Moving an index instead of the rows keeps taking at O(1). */
  #next = 0;
  #live = 0;
  /** Events that came or went since the queue was last merged. */
  #moved = Infinity;
  /** Attempts that something was dropped of. */
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
    if ("n" in event) {
      this.#mend(event);
      this.#push(event, 0);
    } else if (this.#broken.has(attemptOf(event)) || !this.#admit(event)) {
      this.#broken.set(attemptOf(event), event.sessionId);
      this.#drop(event);
    }
    if (this.#working || this.waiting() === 0) return undefined;
    this.#working = true;
    // Not now: the run is on the stack.
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
    if (!("n" in event)) this.#live -= 1;
    // What is handled is let go in large pieces, so that each row is moved once at most.
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

  /** Takes a live event, if there is room for it or merging makes some. */
  #admit(event: RunEvent): boolean {
    if (this.#live < this.#capacity) {
      this.#push(event, 1);
      return true;
    }
    // Most often it goes on with what waits last.
    const last = this.#events.at(-1);
    const joined = last === undefined ? [] : mergeEvents([last, event]);
    if (joined.length === 1) {
      this.#events.splice(-1, 1, ...joined);
      return true;
    }
    // Merging all costs by the length of the queue, so it waits until a part of that has moved.
    if (this.#moved * 16 < this.#capacity) return false;
    const waiting = this.#events.slice(this.#next);
    const fits = this.#merge([...waiting, event]);
    if (!fits) this.#merge(waiting);
    return fits;
  }

  /** Puts these in place of what waits, merged, and says whether they fit. */
  #merge(events: readonly RunEvent[]): boolean {
    this.#events = [...mergeEvents(events)];
    this.#next = 0;
    this.#live = this.#events.filter((event) => !("n" in event)).length;
    this.#moved = 0;
    return this.#live <= this.#capacity;
  }

  /** Once lanes are closed nothing more comes of their attempts, but a zombie's words, void anyway. */
  #mend(fact: RunEvent): void {
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

function quietly<T>(tell: ((value: T) => void) | undefined, value: T): void {
  try {
    tell?.(value);
  } catch {
    // A report that fails is not reported.
  }
}
