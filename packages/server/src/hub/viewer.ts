import { isAhead } from "@millrace/core/reading";
import type { Cursor, Followed } from "@millrace/core/reading";
import type { RingPosition } from "./mirror.ts";
import type { Room } from "./room.ts";

/** Facts that are copied for one viewer at a time. The others stay in the list that all share. */
const factsAtOnce = 256;

/** What owns a viewer: the generator of `watch`, or a delivery. */
export interface ViewerOwner {
  /** Called when the viewer becomes ready after a read that was needed for its cursor. */
  readonly pump: () => void;
}

/** Where a viewer begins. */
export interface ViewerStart {
  readonly cursor?: Cursor | undefined;
  /** The bytes of items in a snapshot. */
  readonly budget?: number | undefined;
}

/**
 * One viewer of a room: its position, and nothing else that grows. What it has not read is in the
 * room's ring. A viewer that is not in the ring is brought to the room's state by `catchUpFrom`: the facts
 * that it lacks and every open lane from its start, or a snapshot. That one path serves a viewer that
 * joins, one that reconnects, and one that reads too slowly.
 */
export class Viewer {
  readonly #room: Room;
  readonly #owner: ViewerOwner;
  /** Where the viewer is after all that it has taken. */
  #cursor: Cursor | undefined;
  /** The messages that lead to the room's state, taken before the ring. Shared with other viewers: never changed. */
  #backlog: readonly Followed[] = [];
  /** How many messages of the backlog were taken. */
  #taken = 0;
  /** The next index in the ring; undefined before the backlog is complete. */
  #index: number | undefined;
  /** The bytes of items in a snapshot for this viewer. Undefined: the room's. */
  readonly #budget: number | undefined;
  /**
   * `meets`: the viewer's state will be the room's once it has taken its catch-up. `in step`: what was taken
   * last is from the ring, and the viewer's state before it was the room's.
   */
  #sync: "apart" | "meets" | "in step" = "apart";
  /** How many reads of the store the room had begun when the viewer came. */
  readonly #reads: number;
  /** Whether the viewer was compared with the room's state, which happens once. */
  #compared: "not yet" | "catching up" | "done" = "not yet";

  constructor(room: Room, from: ViewerStart, owner: ViewerOwner) {
    this.#room = room;
    this.#cursor = from.cursor;
    this.#budget = from.budget;
    this.#owner = owner;
    this.#reads = room.reads;
  }

  /**
   * Whether `take` may be called. False until the room has joined. A cursor from a process that has
   * read more of the session also delays it, by one read, so that the viewer is not sent back; and so
   * does a missing cursor if the room has not read the store since: the page may have shown more before
   * it was loaded again.
   */
  get ready(): boolean {
    if (!this.#room.joined) return false;
    if (this.#compared === "not yet") this.#compare();
    return this.#compared === "done";
  }

  /**
   * The next messages, at most so many; empty if the viewer is where the room is. They count as read.
   * Viewers at the same index mostly get the same array.
   */
  take(atMost: number): readonly Followed[] {
    const messages = this.#next(atMost);
    const last = messages.at(-1);
    if (last !== undefined) this.#cursor = last.cursor;
    return messages;
  }

  /** Whether what was taken last follows the room's state before it, and not just the viewer's cursor. */
  get inStep(): boolean {
    return this.#sync === "in step";
  }

  /** Whether the viewer has taken all that the room has, and what it takes next is in step. */
  get isCaughtUp(): boolean {
    const isAtEnd = this.#backlog.length === 0 && this.#index === this.#room.ring.end;
    return isAtEnd && this.#sync !== "apart";
  }

  /** What came before this position was taken for a whole group. */
  moveTo({ index, cursor }: RingPosition): void {
    this.#index = index;
    this.#cursor = cursor ?? this.#cursor;
  }

  /** Whether more than that waits for the viewer. What its catch-up has does not count: it is bounded. */
  isBehind(messages: number, bytes: number): boolean {
    if (this.#index === undefined) return false;
    const { ring } = this.#room;
    return ring.end - this.#index > messages || ring.bytesSince(this.#index) > bytes;
  }

  /** Where the viewer is after all that it has taken. */
  get cursor(): Cursor | undefined {
    return this.#cursor;
  }

  /** Takes back the messages that were taken last, and were not sent. */
  untake(messages: readonly Followed[]): void {
    if (this.#backlog.length > 0) this.#taken -= messages.length;
    else {
      this.#backlog = messages;
      this.#taken = 0;
    }
  }

  #compare(): void {
    if (this.#room.isAtLeast(this.#cursor, this.#reads)) {
      this.#compared = "done";
      return;
    }
    this.#compared = "catching up";
    void this.#waitForRoom();
  }

  async #waitForRoom(): Promise<void> {
    await this.#room.catchUp(this.#cursor);
    this.#compared = "done";
    this.#owner.pump();
  }

  #next(atMost: number): readonly Followed[] {
    if (this.#backlog.length > 0) return this.#takeBacklog(atMost);
    const { ring } = this.#room;
    if (this.#index === undefined || this.#index < ring.start) return this.#resync(atMost);
    const messages = ring.since(this.#index, atMost);
    this.#index += messages.length;
    if (this.#sync === "meets") this.#sync = "in step";
    return messages;
  }

  #resync(atMost: number): readonly Followed[] {
    const { messages, complete } = this.#room.catchUpFrom(this.#cursor, factsAtOnce, this.#budget);
    this.#index = complete ? this.#room.ring.end : undefined;
    // A viewer may hold more of a lane than the room, which a catch-up does not take from it.
    const [first] = messages;
    const replaced = first !== undefined && "closedLanes" in first.message;
    const meets =
      replaced || this.#cursor === undefined || !isAhead(this.#cursor, this.#room.state);
    this.#sync = meets ? "meets" : "apart";
    // Not kept if it goes out whole: a snapshot would stay in memory as long as its viewer does.
    if (messages.length <= atMost) return messages;
    this.#backlog = messages;
    this.#taken = 0;
    return this.#takeBacklog(atMost);
  }

  #takeBacklog(atMost: number): readonly Followed[] {
    const messages = this.#backlog.slice(this.#taken, this.#taken + atMost);
    this.#taken += messages.length;
    if (this.#taken === this.#backlog.length) this.#backlog = [];
    return messages;
  }
}
