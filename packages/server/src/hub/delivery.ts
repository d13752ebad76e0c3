import type { InputId, RunId } from "@millrace/core";
import type { Cursor, Followed } from "@millrace/core/reading";
import type { Encoder, Encoding } from "../encoding/encoding.ts";
import type { StreamEndReason } from "@millrace/core/wire";
import { messagesAtOnce } from "./abreast.ts";
import type { RingPlace } from "./abreast.ts";
import type { Attached } from "./deliveries.ts";
import type { Room } from "./room.ts";
import { Viewer } from "./viewer.ts";

/** A viewer that lacks more while its sink is full is ended. */
const unsentAtMost = { messages: 512, bytes: 256 * 1_024 } as const;

/** A run at whose end a delivery ends. */
export interface Until {
  readonly runId: RunId;
  /** The prompt that the run begins with. While it waits, the run is still to come. */
  readonly inputId?: InputId | undefined;
  /** The fact that accepted the prompt. Before it nothing is known of the run. */
  readonly n?: number | undefined;
}

/** How the delivery of one session ended. */
export interface DeliveryEnd {
  /** What its reader is told. Left out: nothing. */
  readonly reason?: StreamEndReason | undefined;
  /** Set if the room failed or the sink threw. */
  readonly error?: unknown;
}

/** What a delivery writes to. Full for all of its deliveries at once. */
export interface Outlet {
  readonly isFull: boolean;
  /** Called before each write; the first call opens the sink. */
  readonly open: (head: number | undefined) => void;
  /** False: full, or over. */
  readonly write: (bytes: Uint8Array) => boolean;
  /** The delivery has left its room, and nothing more comes from it. */
  readonly left: (delivery: Delivery, end: DeliveryEnd) => void;
}

export interface DeliveryOptions {
  readonly room: Room;
  readonly encoding: Encoding;
  readonly outlet: Outlet;
  readonly cursor?: Cursor | undefined;
  readonly budget?: number | undefined;
  readonly until?: Until | undefined;
}

/**
 * One session on its way to one stream. The room pushes, so that no promise is made for each message.
 * Nothing is queued for a full sink: its viewer stays where it is, like any slow viewer, and is ended once
 * it lacks too much. A process has thousands of these, so an object holds little.
 */
export class Delivery implements Attached {
  readonly room: Room;
  readonly #encoding: Encoding;
  readonly #encoder: Encoder;
  readonly #outlet: Outlet;
  readonly #viewer: Viewer;
  readonly #until: Until | undefined;
  /** `abreast`: the room writes to it together with others, and its viewer's place is theirs. */
  #phase: "alone" | "abreast" | "over" = "alone";

  /** Enters the room. `start` attaches it. */
  constructor({ room, encoding, outlet, until, ...place }: DeliveryOptions) {
    this.room = room;
    this.#encoding = encoding;
    this.#encoder = room.openEncoder(encoding);
    this.#outlet = outlet;
    this.#until = until;
    this.#viewer = new Viewer(room, place, this);
    room.enter();
  }

  start(): void {
    this.room.deliveries.add(this);
    this.pump();
  }

  /** Whether the viewer has been sent all facts. What waits is sent first. */
  get hasFacts(): boolean {
    this.room.flush();
    return this.#phase === "abreast" || this.#viewer.cursor?.head === this.room.state.head;
  }

  pump(): void {
    if (this.#phase === "over") return;
    if (this.#phase === "abreast") {
      const place = this.room.deliveries.delete(this, this.#encoder);
      if (place !== undefined) this.fallOut(place);
    }
    if (this.#outlet.isFull) {
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

  wake(): void {
    this.pump();
  }

  push(bytes: Uint8Array, from: RingPlace, to: RingPlace): boolean {
    // Another session of the same stream may have filled it.
    const isFull = this.#outlet.isFull;
    if (!isFull && this.#outlet.write(bytes)) return true;
    this.fallOut(isFull ? from : to);
    return false;
  }

  fallOut(from: RingPlace): void {
    if (this.#phase !== "abreast") return; // it has left
    this.#phase = "alone";
    this.#viewer.stand(from);
    this.room.deliveries.add(this);
  }

  /** Ends the delivery. Later calls do nothing. */
  leave(end: DeliveryEnd = {}): void {
    if (this.#phase === "over") return;
    this.#phase = "over";
    this.room.deliveries.delete(this, this.#encoder);
    this.room.dropEncoder(this.#encoding);
    this.room.leave();
    this.#outlet.left(this, end);
  }

  #fill(): void {
    let messages = this.#viewer.take(messagesAtOnce);
    // Not before `take`: it can throw, and then the sink must be unopened.
    this.#outlet.open(this.room.state.head);
    while (messages.length > 0) {
      // The opening alone may have filled it.
      if (this.#outlet.isFull) return this.#viewer.untake(messages);
      const last = this.#until === undefined ? -1 : endOfRun(messages, this.#until);
      if (last >= 0) messages = messages.slice(0, last + 1);
      const bytes = this.#encoder.encode(messages, this.#viewer.inStep);
      // An empty chunk would end the response.
      const hasRoom = bytes.length === 0 || this.#outlet.write(bytes);
      if (last >= 0 || this.#encoder.isOver?.() === true) return this.leave({ reason: "finished" });
      if (!hasRoom) return;
      messages = this.#viewer.take(messagesAtOnce);
    }
    if (this.#until === undefined) this.#joinOthers();
    else if (this.#isOver(this.#until)) this.leave({ reason: "finished" });
  }

  #joinOthers(): void {
    // What was encoded for all and not taken is encoded again, which a state would notice.
    if (this.#encoder.isOver !== undefined) return;
    if (this.#outlet.isFull || !this.#viewer.isAbreast || this.room.end !== undefined) return;
    if (this.room.deliveries.join(this, this.#encoder)) this.#phase = "abreast";
  }

  /** Whether the run is over, or will never be, as of all that was written. */
  #isOver({ runId, inputId, n = 0 }: Until): boolean {
    const { head, run, queue } = this.room.state;
    const waits = inputId !== undefined && queue.some((queued) => queued.inputId === inputId);
    return head >= n && run?.runId !== runId && !waits;
  }
}

/** The place of the fact that ends the run, or -1. */
function endOfRun(messages: readonly Followed[], { runId }: Until): number {
  return messages.findIndex(
    ({ message }) => "n" in message && message.type === "run_finished" && message.runId === runId,
  );
}
