import type { Cursor, Followed } from "@millrace/core/reading";
import type { Room } from "./room.ts";

/** Facts that wait for one viewer at a time. The others stay where they are held for all. */
const factsAtOnce = 256;

/** Whose viewer it is. */
export interface Wakes {
  /** Called when the viewer has become ready later than the room. */
  readonly wake: () => void;
}

/**
 * One viewer of a room: where it is, and nothing else that grows. What it has not read stands in the
 * room's ring; if it falls out of that, it is told what it lacks by then, lanes said anew, from the
 * room's own state. Coming late, coming back and being slow are this one thing.
 */
export class Viewer {
  readonly #room: Room;
  readonly #owner: Wakes;
  #cursor: Cursor | undefined;
  /** Told before what is in the ring. Shared with others: never changed. */
  #first: readonly Followed[] = [];
  #taken = 0;
  /** Where it goes on in the ring, or nothing while it is not there yet. */
  #index: number | undefined;
  #compared: "not yet" | "catching up" | "done" = "not yet";

  constructor(room: Room, cursor: Cursor | undefined, owner: Wakes) {
    this.#room = room;
    this.#cursor = cursor;
    this.#owner = owner;
  }

  /** Whether it can be told anything. A cursor of a process that heard more is waited for, once. */
  get ready(): boolean {
    if (!this.#room.joined) return false;
    if (this.#compared === "not yet") this.#compare();
    return this.#compared === "done";
  }

  /**
   * What it is to be told next, or nothing if it is where the room is. At most so many, and they count
   * as told. Viewers who are told the same are mostly given the same array.
   */
  take(atMost: number): readonly Followed[] {
    const told = this.#next(atMost);
    const last = told.at(-1);
    if (last !== undefined) this.#cursor = last.cursor;
    return told;
  }

  #compare(): void {
    if (this.#cursor === undefined || !this.#room.isAhead(this.#cursor)) {
      this.#compared = "done";
      return;
    }
    this.#compared = "catching up";
    void this.#catchUp();
  }

  async #catchUp(): Promise<void> {
    await this.#room.catchUp();
    this.#compared = "done";
    this.#owner.wake();
  }

  #next(atMost: number): readonly Followed[] {
    if (this.#first.length > 0) return this.#rest(atMost);
    const { ring } = this.#room;
    if (this.#index === undefined || this.#index < ring.start) return this.#begin(atMost);
    const told = ring.since(this.#index, atMost);
    this.#index += told.length;
    return told;
  }

  #begin(atMost: number): readonly Followed[] {
    const { messages: told, complete } = this.#room.welcome(this.#cursor, factsAtOnce);
    this.#index = complete ? this.#room.ring.end : undefined;
    // Not held once it is told: a snapshot would stay as long as its viewer does.
    if (told.length <= atMost) return told;
    this.#first = told;
    this.#taken = 0;
    return this.#rest(atMost);
  }

  #rest(atMost: number): readonly Followed[] {
    const told = this.#first.slice(this.#taken, this.#taken + atMost);
    this.#taken += told.length;
    if (this.#taken === this.#first.length) this.#first = [];
    return told;
  }
}
