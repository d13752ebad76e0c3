import { apply, cursorOf, emptyState, replay, restateLane, snapshot } from "@millrace/core/reading";
import type { Fact, SessionState } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import type { Applied, Cursor, Snapshot } from "@millrace/core/reading";
import type { CheckedTail } from "./checked-tail.ts";
import type { Node } from "./engines.ts";
import type { Session } from "./session.ts";

/** What a hub sends to its viewers. */
export interface Delivered {
  readonly message: Fact | Batch | Snapshot;
  /** Where the viewer is after it, if the hub sends a cursor. Else the viewer computes it. */
  readonly cursor?: Cursor;
}

/** A viewer as a hub sees it. */
export interface HubViewer {
  readonly cursor: Cursor | undefined;
  readonly inbox: Delivered[];
  /** Resolves when something has been taken out of the inbox. */
  room(): Promise<void>;
}

/** What stands between the engines and the viewers. The explorer needs no more of it than this. */
export interface Hub {
  /** Joined, so that viewers may connect. */
  readonly ready: boolean;
  readonly phase: number;
  /** The announcements that wait for it, oldest first. */
  readonly waiting: readonly (Fact | Batch)[];
  readonly state: SessionState;
  /** The next of the steps by which it joins: subscribe; facts and floors; lanes. */
  join(): Promise<void>;
  /** Takes the oldest announcement, or loses it. */
  receive(lost: boolean): Promise<void>;
  /** Compares its head with the store's. */
  poll(): Promise<void>;
  /** Brings a viewer from its cursor to where this is, and sends it the rest until that is taken back. */
  connect(viewer: HubViewer): Promise<() => void>;
  /** Waits until all has been sent that can be, after a viewer has taken something. */
  rest?(): Promise<void>;
  leave(): Promise<void>;
}

/** A hub by the rules of DESIGN, on core's own `apply`, in steps that others may come between. */
export class StepHub implements Hub {
  readonly #session: Session;
  readonly #node: Node;
  readonly #inboxes = new Set<Delivered[]>();
  #facts: readonly Fact[] = [];
  #floors: readonly { readonly lane: number; readonly epoch: number }[] = [];
  #subscription: CheckedTail | undefined;
  #state: SessionState;
  #phase = 0;

  constructor(session: Session, node: Node) {
    this.#session = session;
    this.#node = node;
    this.#state = emptyState(session.uid, session.sessionId);
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

  async join(): Promise<void> {
    const { uid, sessionId } = this.#session;
    const { store } = this.#node;
    this.#phase += 1;
    if (this.#phase === 1) {
      this.#subscription = await this.#session.subscribe(this.#node);
    } else if (this.#phase === 2) {
      this.#facts = await store.read(uid);
      this.#state = replay(emptyState(uid, sessionId), this.#facts);
      this.#floors = await store.floors(uid);
    } else {
      for (const { lane, epoch } of this.#floors) {
        await this.#readLane(lane, epoch);
        if (this.#at(lane) === undefined) await this.#session.ask(lane, this.#node);
      }
    }
  }

  async receive(lost: boolean): Promise<void> {
    const message = this.#subscription?.waiting.shift();
    if (message !== undefined && !lost) await this.#take(message);
  }

  async poll(): Promise<void> {
    await this.#readFacts();
  }

  async connect({ cursor, inbox }: HubViewer): Promise<() => void> {
    if (cursor !== undefined && cursor.head > this.#state.head) await this.#readFacts();
    const { uid } = this.#session;
    const { store } = this.#node;
    for (const message of await welcomeTo(this.#state, cursor, (after, limit) =>
      store.read(uid, { after, limit }),
    ))
      inbox.push({ message });
    this.#inboxes.add(inbox);
    return () => this.#inboxes.delete(inbox);
  }

  async leave(): Promise<void> {
    if (this.#subscription !== undefined) await this.#session.unsubscribe(this.#subscription);
  }

  async #take(message: Fact | Batch): Promise<void> {
    const applied = this.#advance(message);
    if (applied.verdict !== "gap") return;
    if (applied.missing !== "lane") await this.#readFacts();
    if ("n" in message) return;
    if (apply(this.#state, message).verdict === "gap") await this.#readLane(message.lane, 0);
    if (this.#advance(message).verdict === "gap") await this.#session.ask(message.lane, this.#node);
  }

  async #readFacts(): Promise<void> {
    const { uid, sessionId } = this.#session;
    const { store } = this.#node;
    for (const fact of await store.read(uid, { after: this.#state.head })) {
      if (this.#advance(fact).verdict !== "gap") continue;
      // A reset undid what this has.
      this.#state = replay(emptyState(uid, sessionId), await store.read(uid));
      this.#deliver(snapshot(this.#state));
    }
  }

  /** Batches below the floor are a zombie's, which a log that lost its fence may hold. */
  async #readLane(lane: number, floor: number): Promise<void> {
    const { uid } = this.#session;
    const { log } = this.#node;
    for (const batch of await log.read(uid, lane, this.#at(lane))) {
      if (batch.epoch < floor) continue;
      if (batch.head > this.#state.head) await this.#readFacts();
      this.#advance(batch);
    }
  }

  #deliver(message: Delivered["message"]): void {
    for (const inbox of this.#inboxes) inbox.push({ message });
  }

  #advance(message: Fact | Batch): Applied {
    const applied = apply(this.#state, message);
    this.#state = applied.state;
    if (applied.verdict === "applied") this.#deliver(message);
    return applied;
  }

  #at(lane: number): Cursor["lanes"][number] | undefined {
    return cursorOf(this.#state).lanes.find((position) => position.lane === lane);
  }
}

/**
 * What brings a viewer from its cursor to this state: what it lacks if that is known, else a
 * snapshot.
 */
async function welcomeTo(
  state: SessionState,
  cursor: Cursor | undefined,
  read: (after: number, limit: number) => Promise<readonly Fact[]>,
): Promise<readonly Delivered["message"][]> {
  if (cursor === undefined || cursor.head > state.head) return [snapshot(state)];
  const facts = await read(cursor.head, state.head - cursor.head);
  if (facts.some((fact) => fact.type === "session_claimed" && fact.to !== undefined)) {
    return [snapshot(state)];
  }
  const behind = state.lanes.filter(({ lane, epoch, seq }) => {
    const mine = cursor.lanes.find((position) => position.lane === lane);
    return mine?.epoch !== epoch || mine.seq < seq;
  });
  return [...facts, ...behind.map((lane) => restateLane(lane, state))];
}
