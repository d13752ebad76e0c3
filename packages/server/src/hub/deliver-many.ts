import type { SessionId } from "@millrace/core";
import { endlessPause } from "@millrace/core/model";
import type { Clock, SessionRecord, SessionStore } from "@millrace/core/ports";
import type { StreamEndReason } from "@millrace/core/wire";
import { encodingOf } from "../encoding/steps.ts";
import { endedLines, streamEndReason } from "../encoding/lines.ts";
import { sessionsAtMost } from "./check-options.ts";
import { Delivery } from "./delivery.ts";
import type { DeliveryEnd } from "./delivery.ts";
import type { DeliverManyOptions, DeliveredEnd, Sink, WatchOptions } from "./options.ts";
import type { Room } from "./room.ts";
import { Stream } from "./stream.ts";
import type { Streams } from "./stream.ts";

/** What a stream of several sessions uses of its hub. */
interface DeliverManyContext {
  /** Undefined once the hub is closed. */
  readonly roomOf: (session: WatchOptions) => Room | undefined;
  readonly streams: Streams;
  readonly store: Pick<SessionStore, "find">;
  readonly clock: Clock;
  readonly random: () => number;
}

/** Several sessions to one sink. See `Hub.deliverMany`. */
export function deliverMany(
  { roomOf, streams, store, clock, random }: DeliverManyContext,
  { sessions, children: withChildren = false, mayShow, form, signal }: DeliverManyOptions,
  sink: Sink,
): Promise<DeliveredEnd> {
  if (signal?.aborted === true) return Promise.resolve({});
  return new Promise((resolve) => {
    const stream = new ManyStream(streams, sink, resolve);
    if (!stream.bind(signal)) return;
    stream.open(undefined);
    const encoding = encodingOf(form);
    const add = (session: WatchOptions): Delivery | undefined => {
      if (stream.isOver) return undefined;
      const room = roomOf(session);
      if (room === undefined) {
        stream.finish({ reason: "drain" });
        return undefined;
      }
      const { cursor, budget } = session;
      const delivery = new Delivery({ room, encoding, stream, cursor, budget });
      endBy(session, delivery);
      stream.add(delivery, session, children);
      return delivery;
    };
    const hasRoom = (): boolean => stream.sessions < sessionsAtMost;
    const children = withChildren
      ? new Children({ store, clock, random, mayShow, hasRoom, add })
      : undefined;
    for (const session of sessions) {
      if ("ended" in session) stream.writeEnd(session.sessionId, session.ended);
      else add(session);
      if (stream.isOver) return;
    }
    stream.endIfEmpty();
  });
}

/** Ends one session of a stream by its own signal. The listener goes with the signal. */
function endBy({ signal }: WatchOptions, delivery: Delivery): void {
  if (signal === undefined) return;
  const stop = (): void => delivery.leave({ reason: streamEndReason(signal.reason) });
  if (signal.aborted) queueMicrotask(stop);
  else signal.addEventListener("abort", stop, { once: true });
}

/** A session on the stream. */
interface StreamedSession {
  readonly sessionId: SessionId;
  /** Called when it leaves. */
  readonly leave?: ((end: DeliveryEnd) => void) | undefined;
}

/**
 * One stream of several sessions. Each message's id is a cursor of its session, which the uid in it names.
 * The end of a session is a message, and the others go on. The sink is full for all of them at once,
 * and afterwards they are served in turns.
 */
class ManyStream extends Stream {
  readonly #deliveries = new Map<Delivery, StreamedSession>();
  /** The ends of sessions that the sink had no room for. At most one for each session. */
  #unsent: Uint8Array[] = [];

  /** Delivers one more session, and its sub-agents if they are given. */
  add(delivery: Delivery, session: WatchOptions, children?: Children): void {
    const { sessionId } = session;
    this.#deliveries.set(delivery, { sessionId });
    delivery.start();
    // It may have left at once.
    if (children === undefined || !this.#deliveries.has(delivery)) return;
    this.#deliveries.set(delivery, { sessionId, leave: children.watch(delivery, session) });
  }

  get sessions(): number {
    return this.#deliveries.size;
  }

  /** A session that can't be delivered, or no longer. */
  writeEnd(sessionId: string, reason: StreamEndReason): void {
    const message = endedLines({ reason, sessionId });
    if (this.isFull) this.#unsent.push(message);
    else this.write(message);
  }

  override left(delivery: Delivery, end: DeliveryEnd): void {
    const session = this.#deliveries.get(delivery);
    this.#deliveries.delete(delivery);
    session?.leave?.(end);
    if (this.isOver || session === undefined) return;
    const { sessionId } = session;
    // What fills the sink is all of them together: the reader comes back for all.
    if (end.reason === "slow") return this.finish(end);
    if ("error" in end) this.writeEnd(sessionId, "not_found");
    else if (end.reason !== undefined) this.writeEnd(sessionId, end.reason);
    this.endIfEmpty();
  }

  /** Ends a stream without a session, once the ends of its sessions were written. */
  endIfEmpty(): void {
    if (this.#deliveries.size === 0 && this.#unsent.length === 0) this.finish({});
  }

  protected override heartbeatHead(): undefined {
    for (const { room } of this.#deliveries.keys()) room.flush();
  }

  protected override pump(): void {
    for (let end = this.#unsent.shift(); end !== undefined; end = this.#unsent.shift()) {
      this.write(end);
      if (this.isFull) return;
    }
    this.endIfEmpty();
    const turn = [...this.#deliveries];
    for (const [delivery, session] of turn) {
      if (this.isFull) return;
      delivery.pump();
      // The last that was served is the first to wait.
      if (this.#deliveries.delete(delivery)) this.#deliveries.set(delivery, session);
    }
  }

  protected override leaveRooms(): void {
    for (const delivery of this.#deliveries.keys()) delivery.leave();
  }
}

/** What adds sub-agents to a stream. */
interface ChildrenOptions {
  readonly store: Pick<SessionStore, "find">;
  readonly clock: Clock;
  readonly random: () => number;
  readonly mayShow: DeliverManyOptions["mayShow"];
  /** Whether the stream takes one more session. */
  readonly hasRoom: () => boolean;
  /** Delivers one more session. Undefined: the stream is over. */
  readonly add: (session: WatchOptions) => Delivery | undefined;
}

/** A sub-agent on the stream. */
interface Child {
  readonly parent: Room;
  readonly delivery: Delivery;
}

/**
 * The sub-agents of a stream's sessions, and theirs: each is added when a session names it as running, and
 * leaves with `finished` once its call and its run are over. A session is looked at at each of its changes. One is shown
 * that the store has made as a child of this session, not one that merely is named: the facts of a fork name children
 * of its source. When a session leaves the stream, its children leave it too.
 */
class Children {
  readonly #options: ChildrenOptions;
  /** Sessions that are on the stream. */
  readonly #onStream = new Set<SessionId>();
  /** Those that are looked up. Meanwhile the reader may have asked for one itself. */
  readonly #lookedUp = new Set<SessionId>();
  /** Those that are not shown: another session's, or not for this reader. */
  readonly #refused = new Set<SessionId>();
  readonly #children = new Map<SessionId, Child>();

  constructor(options: ChildrenOptions) {
    this.#options = options;
  }

  /** Looks at a session of the stream from now on. The result ends that, when its delivery ends. */
  watch({ room }: Delivery, session: WatchOptions): (end: DeliveryEnd) => void {
    const { sessionId, budget } = session;
    this.#onStream.add(sessionId);
    let stop: () => void;
    const look = (): void => {
      stop = room.wait(look);
      this.#look(room, budget);
    };
    look();
    return (end) => {
      stop();
      this.#onStream.delete(sessionId);
      this.#children.delete(sessionId);
      for (const { parent, delivery } of this.#children.values())
        if (parent === room) delivery.leave(end);
    };
  }

  #look(room: Room, budget: number | undefined): void {
    if (!room.joined) return;
    for (const { childSessionId: name } of room.state.executions) {
      if (name !== undefined && this.#isNew(name) && this.#options.hasRoom())
        void this.#show(name, room, budget);
    }
    for (const [name, child] of this.#children)
      if (isOver(name, child)) child.delivery.leave({ reason: "finished" });
  }

  #isNew(name: SessionId): boolean {
    return [this.#onStream, this.#lookedUp, this.#refused].every((known) => !known.has(name));
  }

  async #show(name: SessionId, parent: Room, budget: number | undefined): Promise<void> {
    this.#lookedUp.add(name);
    const found = await this.#find(name, parent);
    this.#lookedUp.delete(name);
    if (found === undefined) return void this.#refused.add(name);
    if (this.#onStream.has(name) || !this.#options.hasRoom()) return;
    const { uid, sessionId } = found;
    const delivery = this.#options.add({ uid, sessionId, budget });
    if (delivery !== undefined) this.#children.set(name, { parent, delivery });
  }

  /** Undefined: there is no such child of the session, or its reader may not see it. */
  async #find(name: SessionId, parent: Room): Promise<SessionRecord | undefined> {
    const { store, clock, random, mayShow } = this.#options;
    for (let failures = 1; parent.end === undefined; failures += 1) {
      try {
        const found = await store.find(name);
        const isOwn = found?.parent?.uid === parent.state.uid;
        return isOwn && (await mayShow?.(found)) !== false ? found : undefined;
      } catch {
        await clock.sleep(endlessPause(failures, random())); // the store is away
      }
    }
    return undefined;
  }
}

/** Its call and its run are over, and its viewer has been sent all facts. */
function isOver(name: SessionId, { parent, delivery }: Child): boolean {
  const { joined, state } = delivery.room;
  if (!joined || state.run !== undefined || isNamed(name, parent)) return false;
  return delivery.hasFacts;
}

function isNamed(name: SessionId, { state }: Room): boolean {
  return state.executions.some(({ childSessionId }) => childSessionId === name);
}
