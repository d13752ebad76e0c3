import { systemClock } from "@millrace/core/memory";
import { apply, emptyState, follow, restore } from "@millrace/core/reading";
import type { Fact, SessionState } from "@millrace/core";
import type { Batch, Clock, EventLog } from "@millrace/core/ports";
import type { Cursor, Followed } from "@millrace/core/reading";
import { createHub } from "@millrace/server/hub";
import type { CheckedTail } from "./checked-tail.ts";
import type { Node } from "./engines.ts";
import type { HubViewer, Hub } from "./hub.ts";
import type { Session } from "./session.ts";
import { Traffic } from "./traffic.ts";
import { leadsTo } from "./viewer.ts";
import { promise } from "./violation.ts";

/** Reads a session from a cursor on, without end. */
type Watch = (options: {
  cursor?: Cursor | undefined;
  signal: AbortSignal;
}) => AsyncIterable<Followed>;

/** Makes what is under test, which has this store, log and clock and nothing else. */
export type MakeWatch = (
  ports: Node & { readonly clock: Clock },
  session: Pick<Session, "uid" | "sessionId">,
) => Watch;

/** Every viewer reads by core's `follow`. All subscriptions receive a message at the same time. */
export const byFollow: MakeWatch = (ports, { uid, sessionId }) => {
  return (options) => follow({ ...ports, uid, sessionId, ...options });
};

/**
 * Every viewer reads through one hub of the server package, which keeps little, so that slow
 * viewers fall out.
 */
export const byHub: MakeWatch = (ports, { uid, sessionId }) => {
  const hub = createHub({ ...ports, keptFacts: 6, keptMessages: 4 });
  return (options) => hub.watch({ uid, sessionId, ...options });
};

/** Messages that wait for one viewer. One that does not take them is slow. */
const inboxLength = 2;
/** How far the clock moves when the explorer polls: the longest time between two reads of the head. */
const pollMs = 5_000;

/**
 * A hub whose readers are real: one that watches all the time, so that the explorer knows what is
 * shown, and one for each viewer, from its cursor on. What the log announces waits at a gate, so
 * that the explorer decides when it arrives, and the clock ticks when the explorer polls.
 */
export class WatchingHub implements Hub {
  readonly #session: Session;
  readonly #node: Node;
  readonly #traffic = new Traffic();
  readonly #watch: Watch;
  readonly #left = new AbortController();
  /** The subscriptions of its readers. */
  readonly #gates = new Set<(message: Fact | Batch | undefined) => void>();
  #subscription: CheckedTail | undefined;
  /** Sleeps that end with the next tick. */
  #sleepers: (() => void)[] = [];
  #now = 0;
  #state: SessionState;
  #phase = 0;
  /** What made a reader fail. */
  #failure: { readonly error: unknown } | undefined;

  constructor(session: Session, node: Node, makeWatch: MakeWatch) {
    this.#session = session;
    this.#node = node;
    this.#state = emptyState(session.uid, session.sessionId);
    const { store, log } = this.#traffic.through(node);
    const now = (): number => (this.#now += 1_000);
    const clock = { now, monotonic: now, sleep: this.#sleep, after: systemClock.after };
    const gated = { ...log, tail: this.#tail, nudge: this.#nudge };
    this.#watch = makeWatch({ store, log: gated, clock }, session);
  }

  get waiting(): readonly (Fact | Batch)[] {
    return this.#subscription?.waiting ?? [];
  }

  get state(): SessionState {
    return this.#state;
  }

  get phase(): number {
    return this.#phase;
  }

  get ready(): boolean {
    return this.#phase === 3;
  }

  /** All at once: a reader can't be held between its reads. */
  async join(): Promise<void> {
    if (this.#phase === 3) return;
    this.#phase = 3;
    this.#subscription = await this.#session.subscribe(this.#node);
    this.#run(this.#observe());
    await this.rest();
  }

  async receive(lost: boolean): Promise<void> {
    const message = this.#subscription?.waiting.shift();
    if (lost || message === undefined) return;
    this.#open(message);
    await this.rest();
  }

  async poll(): Promise<void> {
    this.#now += pollMs;
    const sleepers = this.#sleepers;
    this.#sleepers = [];
    for (const wake of sleepers) wake();
    await this.rest();
  }

  async connect(viewer: HubViewer): Promise<() => void> {
    const gone = new AbortController();
    this.#run(this.#serve(viewer, gone.signal));
    await this.rest();
    return () => gone.abort();
  }

  async rest(): Promise<void> {
    await this.#traffic.rest();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  async leave(): Promise<void> {
    this.#left.abort();
    this.#open(undefined);
    if (this.#subscription !== undefined) await this.#session.unsubscribe(this.#subscription);
  }

  #run(reading: Promise<void>): void {
    reading.catch((error: unknown) => {
      this.#failure ??= { error };
    });
  }

  async #observe(): Promise<void> {
    for await (const { message, cursor } of this.#watch({ signal: this.#left.signal })) {
      if ("items" in message) this.#state = restore(message);
      else {
        const { verdict, state } = apply(this.#state, message);
        promise(verdict === "applied", () => `what is watched is a ${verdict}`);
        this.#state = state;
      }
      promise(
        leadsTo(cursor, this.#state),
        () => "what is watched leads elsewhere than its cursor says",
      );
    }
  }

  /** One at a time, and no more than the viewer has room for. */
  async #serve(viewer: HubViewer, gone: AbortSignal): Promise<void> {
    const { cursor, inbox } = viewer;
    const signal = AbortSignal.any([gone, this.#left.signal]);
    for await (const followed of this.#watch({ cursor, signal })) {
      inbox.push(followed);
      while (inbox.length >= inboxLength && !signal.aborted) await viewer.room();
    }
  }

  /** Announcements as the explorer lets them through. Ends with the hub, or by its signal. */
  readonly #tail: EventLog["tail"] = async (_, { signal } = {}) => {
    const passed: (Fact | Batch)[] = [];
    let ended = signal?.aborted === true;
    let wake: (() => void) | undefined;
    const gate = (message: Fact | Batch | undefined): void => {
      if (message === undefined) ended = true;
      else passed.push(message);
      if (ended) this.#gates.delete(gate);
      wake?.();
    };
    this.#gates.add(gate);
    signal?.addEventListener("abort", () => gate(undefined), { once: true });
    return (async function* () {
      for (;;) {
        while (passed.length > 0) yield* passed.splice(0); // more may pass while the reader is slow
        if (ended) return;
        const { promise: passing, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        await passing;
      }
    })();
  };

  readonly #nudge: EventLog["nudge"] = async (_, nudge) => {
    if (nudge.kind !== "reseed") return undefined;
    const { lane } = nudge;
    await this.#traffic.watch(this.#session.ask(lane, this.#node));
    return undefined;
  };

  readonly #sleep: Clock["sleep"] = (_, signal) => {
    const { promise: slept, resolve } = Promise.withResolvers<void>();
    this.#sleepers.push(resolve);
    if (signal?.aborted === true) resolve();
    signal?.addEventListener("abort", () => resolve(), { once: true });
    return slept;
  };

  #open(message: Fact | Batch | undefined): void {
    for (const gate of this.#gates) gate(message);
  }
}
