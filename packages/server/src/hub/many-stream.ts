import type { SessionId } from "@millrace/core";
import { endedLines } from "../encoding/lines.ts";
import type { StreamEndReason } from "@millrace/core/wire";
import type { Children } from "./children.ts";
import type { Delivery, DeliveryEnd } from "./delivery.ts";
import type { WatchOptions } from "./options.ts";
import { Stream } from "./stream.ts";

/** A session on the stream. */
interface Place {
  readonly sessionId: SessionId;
  /** Called when it leaves. */
  readonly leave?: ((end: DeliveryEnd) => void) | undefined;
}

/**
 * One stream of several sessions. Each message's id is a cursor of its session, which the uid in it names.
 * A session that ends is told by a message, and the others go on. The sink is full for all of them at once,
 * and afterwards they are served in turns.
 */
export class ManyStream extends Stream {
  readonly #deliveries = new Map<Delivery, Place>();
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
  tellEnd(sessionId: string, reason: StreamEndReason): void {
    const message = endedLines({ reason, sessionId });
    if (this.isFull) this.#unsent.push(message);
    else this.write(message);
  }

  override left(delivery: Delivery, end: DeliveryEnd): void {
    const place = this.#deliveries.get(delivery);
    this.#deliveries.delete(delivery);
    place?.leave?.(end);
    if (this.isOver || place === undefined) return;
    const { sessionId } = place;
    // What fills the sink is all of them together: the reader comes back for all.
    if (end.reason === "slow") return this.finish(end);
    if ("error" in end) this.tellEnd(sessionId, "not_found");
    else if (end.reason !== undefined) this.tellEnd(sessionId, end.reason);
    this.endIfEmpty();
  }

  /** Ends a stream without a session, once its ends were told. */
  endIfEmpty(): void {
    if (this.#deliveries.size === 0 && this.#unsent.length === 0) this.finish({});
  }

  protected override heartbeatHead(): undefined {
    for (const { room } of this.#deliveries.keys()) room.flush();
  }

  protected override pump(): void {
    for (
      let message = this.#unsent.shift();
      message !== undefined;
      message = this.#unsent.shift()
    ) {
      this.write(message);
      if (this.isFull) return;
    }
    this.endIfEmpty();
    const turn = [...this.#deliveries];
    for (const [delivery, place] of turn) {
      if (this.isFull) return;
      delivery.pump();
      // The last that was served is the first to wait.
      if (this.#deliveries.delete(delivery)) this.#deliveries.set(delivery, place);
    }
  }

  protected override leaveRooms(): void {
    for (const delivery of this.#deliveries.keys()) delivery.leave();
  }
}
