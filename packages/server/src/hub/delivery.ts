import type { InputId, RunId, SessionState } from "@millrace/core";
import type { Cursor, Followed } from "@millrace/core/reading";
import type { Encoder, Encoding, SharedEncoder } from "../encoding/encoding.ts";
import type { StreamEndReason } from "@millrace/core/wire";
import type { Ring, RingPosition } from "./mirror.ts";
import type { Room } from "./room.ts";
import type { Stream } from "./stream.ts";
import { Viewer } from "./viewer.ts";

/** Messages that are written at once, at most. It bounds what is on its way to one viewer. */
const messagesAtOnce = 32;

/** A viewer that lacks more while its sink is full is ended. */
const unsentAtMost = { messages: 512, bytes: 256 * 1_024 } as const;

/** A run at whose end a delivery ends. */
export interface Until {
  readonly runId: RunId;
  /** The prompt that the run begins with. While it waits, the run is still to come. */
  readonly inputId?: InputId | undefined;
  /** The fact that accepted the prompt. A state before it does not contain the run. */
  readonly n?: number | undefined;
}

/** How the delivery of one session ended. */
export interface DeliveryEnd {
  /** Sent to its reader. Left out: nothing is sent. */
  readonly reason?: StreamEndReason | undefined;
  /** Set if the room failed or the sink threw. */
  readonly error?: unknown;
}

export interface DeliveryOptions {
  readonly room: Room;
  readonly encoding: Encoding;
  readonly stream: Stream;
  readonly cursor?: Cursor | undefined;
  readonly budget?: number | undefined;
  readonly until?: Until | undefined;
}

/**
 * One session on its way to one stream. The room pushes, so that no promise is made for each message.
 * Nothing is queued for a full sink: its viewer stays where it is, like any slow viewer, and is ended once
 * it lacks too much. A process has thousands of these, so an object holds little.
 */
export class Delivery {
  readonly room: Room;
  readonly #encoding: Encoding;
  readonly #encoder: Encoder;
  readonly #stream: Stream;
  readonly #viewer: Viewer;
  readonly #until: Until | undefined;
  /** `grouped`: the room writes to it together with others, and its viewer's position is theirs. */
  #phase: "alone" | "grouped" | "over" = "alone";

  /** Enters the room. `start` attaches it. */
  constructor({ room, encoding, stream, until, ...from }: DeliveryOptions) {
    this.room = room;
    this.#encoding = encoding;
    this.#encoder = room.deliveries.openEncoder(encoding);
    this.#stream = stream;
    this.#until = until;
    this.#viewer = new Viewer(room, from, this);
    room.enter();
  }

  start(): void {
    this.room.deliveries.add(this);
    this.pump();
  }

  /** Whether the viewer has been sent all facts. What waits is sent first. */
  get hasFacts(): boolean {
    this.room.flush();
    return this.#phase === "grouped" || this.#viewer.cursor?.head === this.room.state.head;
  }

  /** Writes what is new to the sink, or ends the delivery if the room has closed. Never throws. */
  pump(): void {
    if (this.#phase === "over") return;
    if (this.#phase === "grouped") {
      const position = this.room.deliveries.delete(this, this.#encoder);
      if (position !== undefined) this.detach(position);
    }
    if (this.#stream.isFull) {
      const { messages, bytes } = unsentAtMost;
      if (this.#viewer.isBehind(messages, bytes)) this.leave({ reason: "slow" });
      return;
    }
    try {
      if (this.#viewer.ready) this.#fill();
    } catch (error) {
      this.leave({ error });
      return;
    }
    if (this.room.end !== undefined) this.leave(this.room.end);
  }

  /**
   * Writes the bytes that lead from one position to the next. Never throws. False: it was detached from its
   * group, or has left its room.
   */
  push(bytes: Uint8Array, from: RingPosition, to: RingPosition): boolean {
    // Another session of the same stream may have filled it.
    const { isFull } = this.#stream;
    if (!isFull && this.#stream.write(bytes)) return true;
    this.detach(isFull ? from : to);
    return false;
  }

  /** Leaves its group, and goes on alone from that position. */
  detach(from: RingPosition): void {
    if (this.#phase !== "grouped") return; // it has left
    this.#phase = "alone";
    this.#viewer.moveTo(from);
    this.room.deliveries.add(this);
  }

  /** Ends the delivery. Later calls do nothing. */
  leave(end: DeliveryEnd = {}): void {
    if (this.#phase === "over") return;
    this.#phase = "over";
    this.room.deliveries.delete(this, this.#encoder);
    this.room.deliveries.dropEncoder(this.#encoding);
    this.room.leave();
    this.#stream.left(this, end);
  }

  #fill(): void {
    let messages = this.#viewer.take(messagesAtOnce);
    // Not before `take`: it can throw, and then the sink must be unopened.
    this.#stream.open(this.room.state.head);
    while (messages.length > 0) {
      // The opening alone may have filled it.
      if (this.#stream.isFull) return this.#viewer.untake(messages);
      const last = this.#until === undefined ? -1 : endOfRun(messages, this.#until);
      if (last >= 0) messages = messages.slice(0, last + 1);
      const bytes = this.#encoder.encode(messages, this.#viewer.inStep);
      // An empty chunk would end the response.
      const hasRoom = bytes.length === 0 || this.#stream.write(bytes);
      if (last >= 0 || this.#encoder.isOver?.() === true) return this.leave({ reason: "finished" });
      if (!hasRoom) return;
      messages = this.#viewer.take(messagesAtOnce);
    }
    if (this.#until === undefined) this.#joinGroup();
    else if (this.#isOver(this.#until)) this.leave({ reason: "finished" });
  }

  #joinGroup(): void {
    // What was encoded for all and not taken is encoded again, which would change an encoder's own state.
    if (this.#encoder.isOver !== undefined) return;
    if (this.#stream.isFull || !this.#viewer.isCaughtUp || this.room.end !== undefined) return;
    if (this.room.deliveries.join(this, this.#encoder)) this.#phase = "grouped";
  }

  /** Whether the run is over, or will never be, as of all that was written. */
  #isOver({ runId, inputId, n = 0 }: Until): boolean {
    const { head, run, queue } = this.room.state;
    const waits = inputId !== undefined && queue.some((queued) => queued.inputId === inputId);
    return head >= n && run?.runId !== runId && !waits;
  }
}

/** The index of the fact that ends the run, or -1. */
function endOfRun(messages: readonly Followed[], { runId }: Until): number {
  return messages.findIndex(
    ({ message }) => "n" in message && message.type === "run_finished" && message.runId === runId,
  );
}

/**
 * The deliveries of one encoder that have taken all that the room has, as most have. What is new is taken
 * and encoded once for all of them, so that each costs little more than its write. Their common position is
 * stored here; one that is detached takes it along.
 */
class CaughtUpGroup {
  readonly members = new Set<Delivery>();
  readonly #encoder: Encoder;
  readonly #ring: Ring;
  position: RingPosition;

  /** Begins at the end of the ring. */
  constructor(encoder: Encoder, ring: Ring) {
    this.#encoder = encoder;
    this.#ring = ring;
    this.position = { index: ring.end };
  }

  /** Writes what is new. Detaches all if the ring no longer has the messages at their position. */
  flush(): void {
    while (this.members.size > 0 && this.position.index < this.#ring.end) {
      if (this.position.index < this.#ring.start) return this.detachAll();
      const from = this.position;
      const messages = this.#ring.since(from.index, messagesAtOnce);
      const to = { index: from.index + messages.length, cursor: messages.at(-1)?.cursor };
      const bytes = this.#encoder.encode(messages, true);
      this.position = to;
      for (const member of this.members)
        if (!member.push(bytes, from, to)) this.members.delete(member);
    }
  }

  detachAll(): void {
    const members = [...this.members];
    this.members.clear();
    for (const member of members) member.detach(this.position);
  }
}

/** The deliveries of a room, those alone and those in groups, and the encodings that they use now. */
export class Deliveries {
  readonly #ring: Ring;
  readonly #alone = new Set<Delivery>();
  readonly #groups = new Map<Encoder, CaughtUpGroup>();
  readonly #encodings = new Map<string, { readonly shared: SharedEncoder; users: number }>();

  constructor(ring: Ring) {
    this.#ring = ring;
  }

  get isEmpty(): boolean {
    return this.#alone.size === 0 && this.#groups.size === 0;
  }

  /** What encodes for one delivery. Each call is paired with one of `dropEncoder`. */
  openEncoder(encoding: Encoding): Encoder {
    const used = this.#encodings.get(encoding.name) ?? { shared: encoding.share(), users: 0 };
    this.#encodings.set(encoding.name, used);
    used.users += 1;
    return used.shared.open();
  }

  dropEncoder({ name }: Encoding): void {
    const used = this.#encodings.get(name);
    if (used === undefined) return;
    used.users -= 1;
    if (used.users === 0) this.#encodings.delete(name);
  }

  /** Passes a message to the encodings, with the state before it. Returns its bytes in the largest form. */
  applied(before: SessionState | undefined, followed: Followed): number {
    let bytes = 0;
    for (const { shared } of this.#encodings.values())
      bytes = Math.max(bytes, shared.applied(before, followed));
    return bytes;
  }

  /** Adds one that goes alone. */
  add(delivery: Delivery): void {
    this.#alone.add(delivery);
  }

  /** Moves one that has taken all, in step, to the group of its encoder. False: the group is not there yet. */
  join(delivery: Delivery, encoder: Encoder): boolean {
    let group = this.#groups.get(encoder);
    if (group === undefined) {
      group = new CaughtUpGroup(encoder, this.#ring);
      this.#groups.set(encoder, group);
    }
    if (group.position.index !== this.#ring.end) return false;
    group.members.add(delivery);
    this.#alone.delete(delivery);
    return true;
  }

  /** Removes it from wherever it is. Returns the position of the group that it was in. */
  delete(delivery: Delivery, encoder: Encoder): RingPosition | undefined {
    this.#alone.delete(delivery);
    const group = this.#groups.get(encoder);
    group?.members.delete(delivery);
    if (group?.members.size === 0) this.#groups.delete(encoder);
    return group?.position;
  }

  /** Writes what has arrived to all. */
  flush(): void {
    for (const [encoder, group] of this.#groups) {
      group.flush();
      if (group.members.size === 0) this.#groups.delete(encoder);
    }
    for (const delivery of this.#alone) delivery.pump();
  }

  /** From now on each goes alone. */
  detachAll(): void {
    for (const group of this.#groups.values()) group.detachAll();
    this.#groups.clear();
  }
}
