import { createSseDecoder, decodeCursor, decodeMessage } from "@millrace/core/wire";
import type { Followed } from "@millrace/core/reading";
import type { Hub, WatchOptions } from "../hub/hub.ts";
import type { Frame } from "../sse/frame.ts";
import type { Sink, SinkEvents } from "../sse/sink.ts";

/** Watches a hub through a sink that is full after each frame, and decodes the frame's bytes. */
export async function* watchAsBytes(
  hub: Hub,
  options: WatchOptions,
): AsyncGenerator<Followed, void, undefined> {
  const sink = new OneFrameSink();
  let ended = false;
  const over = hub
    .deliver(options, sink)
    .then(() => ({}))
    .catch((error: unknown) => ({ error }))
    .finally(() => {
      ended = true;
      sink.wake();
    });
  for (;;) {
    const frame = sink.take();
    if (frame !== undefined) yield* decode(frame);
    else if (ended) break;
    else await sink.wait();
  }
  const end = await over;
  if ("error" in end) throw end.error instanceof Error ? end.error : new Error(String(end.error));
}

class OneFrameSink implements Sink {
  #events: SinkEvents | undefined;
  #frame: Frame | undefined;
  #pause: PromiseWithResolvers<void> | undefined;

  bind(events: SinkEvents): void {
    this.#events = events;
  }

  open(): void {}

  write(frame: Frame): boolean {
    if (this.#frame !== undefined) throw new TypeError("written to while full");
    this.#frame = frame;
    this.wake();
    return false;
  }

  end(): void {}

  take(): Frame | undefined {
    const frame = this.#frame;
    this.#frame = undefined;
    if (frame !== undefined) queueMicrotask(() => this.#events?.drained());
    return frame;
  }

  async wait(): Promise<void> {
    this.#pause ??= Promise.withResolvers();
    await this.#pause.promise;
  }

  wake(): void {
    this.#pause?.resolve();
    this.#pause = undefined;
  }
}

function* decode({ plain }: Frame): Generator<Followed, void, undefined> {
  for (const event of createSseDecoder().feed(Buffer.from(plain).toString())) {
    if (event.kind !== "event") throw new TypeError(event.kind);
    const message = decodeMessage(event.data);
    const cursor = decodeCursor(event.id);
    if (!message.ok || cursor === undefined) throw new TypeError(event.data);
    yield { message: message.value, cursor };
  }
}
