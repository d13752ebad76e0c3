import type { Followed } from "@millrace/core/reading";
import type { Form } from "../encoding/steps.ts";
import type { Hub } from "../hub/hub.ts";
import type { Sink, SinkEvents } from "../hub/options.ts";
import { StreamReader, formFor } from "./stream-reader.ts";
import type { Resumed } from "./stream-reader.ts";

/** Watches a hub through a sink that is full after each frame, and decodes the frame's bytes. */
export async function* watchAsBytes(
  hub: Hub,
  options: Resumed,
  form: Form = formFor(options),
): AsyncGenerator<Followed, void, undefined> {
  const sink = new OneFrameSink();
  const reader = new StreamReader(options.state);
  let ended = false;
  const over = hub
    .deliver({ ...options, form }, sink)
    .then(() => ({}))
    .catch((error: unknown) => ({ error }))
    .finally(() => {
      ended = true;
      sink.wake();
    });
  for (;;) {
    const frame = sink.take();
    if (frame !== undefined) yield* reader.feed(Buffer.from(frame).toString());
    else if (ended) break;
    else await sink.wait();
  }
  const end = await over;
  if ("error" in end) throw end.error instanceof Error ? end.error : new Error(String(end.error));
}

class OneFrameSink implements Sink {
  #events: SinkEvents | undefined;
  #frame: Uint8Array | undefined;
  #pause: PromiseWithResolvers<void> | undefined;

  bind(events: SinkEvents): void {
    this.#events = events;
  }

  open(): void {}

  write(frame: Uint8Array): boolean {
    if (this.#frame !== undefined) throw new TypeError("written to while full");
    this.#frame = frame;
    this.wake();
    return false;
  }

  end(last?: Uint8Array): void {
    if (last === undefined) return;
    this.#frame = this.#frame === undefined ? last : Buffer.concat([this.#frame, last]);
    this.wake();
  }

  take(): Uint8Array | undefined {
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
