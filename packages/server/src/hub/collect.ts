import { encodeCursor, encodeMessage, parseJsonText } from "@millrace/core/wire";
import type { Json } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import type { StreamEndReason } from "@millrace/core/wire";
import type { CollectOptions } from "./options.ts";
import type { Room } from "./room.ts";
import { Viewer } from "./viewer.ts";
import type { ViewerStart } from "./viewer.ts";

/** The messages after a cursor, each whole, as a stream would have sent them. */
export interface Collected {
  /** Each with the cursor after it. */
  readonly messages: readonly { readonly id: string; readonly message: Json }[];
  /** Where the reader is after them. Left out if it had none and nothing came. */
  readonly cursor?: string | undefined;
  /** Set if nothing more comes here, and why. */
  readonly ended?: StreamEndReason | undefined;
}

const defaultMaxBytes = 1_024 * 1_024;

/** A viewer whose position can't be settled, as while the store is away, is answered so long after its wait. */
const settleWithinMs = 5_000;

/** Collects from a room. `hurry` ends the wait, as the caller's signal does. */
export async function collectFrom(
  room: Room,
  clock: Clock,
  hurry: AbortSignal,
  wanted: CollectOptions,
): Promise<Collected> {
  const { signal, waitMs = 0, maxBytes = defaultMaxBytes } = wanted;
  const collecting = new Collecting(room, wanted, maxBytes);
  const stop = (): void => collecting.end("now");
  const done = new AbortController();
  const waits = async (): Promise<void> => {
    if (waitMs > 0) await clock.sleep(waitMs, done.signal);
    collecting.end("settled");
    await clock.sleep(settleWithinMs, done.signal);
    stop();
  };
  void waits();
  for (const early of [hurry, signal]) {
    if (early?.aborted === true) stop();
    early?.addEventListener("abort", stop, { once: true });
  }
  try {
    return await collecting.collect();
  } finally {
    done.abort();
    for (const early of [hurry, signal]) early?.removeEventListener("abort", stop);
  }
}

/** One wait of one viewer. */
class Collecting {
  readonly #room: Room;
  readonly #viewer: Viewer;
  readonly #from: ViewerStart;
  readonly #maxBytes: number;
  /** Whether to answer at once, or once the viewer's position is settled, even if there is nothing. */
  #end: "now" | "settled" | undefined;
  #wake: (() => void) | undefined;

  constructor(room: Room, from: ViewerStart, maxBytes: number) {
    this.#room = room;
    this.#from = from;
    this.#maxBytes = maxBytes;
    this.#viewer = new Viewer(room, from, { pump: () => this.#wake?.() });
  }

  end(when: "now" | "settled"): void {
    this.#end = when;
    this.#wake?.();
  }

  /** Resolves with what the viewer lacks as soon as there is any. Throws what the room failed with. */
  async collect(): Promise<Collected> {
    const room = this.#room;
    room.enter();
    try {
      for (;;) {
        const isReady = this.#viewer.ready;
        const messages = isReady ? fitting(this.#viewer, this.#maxBytes) : [];
        const { end } = room;
        if (end !== undefined && "error" in end) throw end.error;
        const isLate = this.#end === "now" || (this.#end === "settled" && isReady);
        if (messages.length > 0 || isLate || end !== undefined) {
          const { cursor } = this.#from;
          const last = messages.at(-1)?.id ?? (cursor && encodeCursor(cursor));
          return { messages, cursor: last, ended: end?.reason };
        }
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        const leave = room.wait(resolve);
        await promise;
        leave();
      }
    } finally {
      room.leave();
    }
  }
}

/** The next messages within so many bytes, and at least one if there is one. The viewer is not used again. */
function fitting(viewer: Viewer, maxBytes: number): Collected["messages"] {
  const messages: { id: string; message: Json }[] = [];
  let bytes = 0;
  for (let [next] = viewer.take(1); next !== undefined; [next] = viewer.take(1)) {
    const text = encodeMessage(next.message);
    bytes += Buffer.byteLength(text);
    if (messages.length > 0 && bytes > maxBytes) break;
    messages.push({ id: encodeCursor(next.cursor), message: parseJsonText(text) as Json });
  }
  return messages;
}
