import type { Followed } from "@millrace/core/reading";

const nothing = new Uint8Array();
/** What is shorter is made again for less than it costs to remember it. */
const rememberFrom = 1_024;

/**
 * The bytes of arrays of messages. A long one is put together once for all viewers that hold its array, and
 * held weakly. The last ones are at hand: most viewers stand in the same place and are sent those.
 */
export class FrameCache {
  readonly #make: (messages: readonly Followed[]) => Uint8Array;
  readonly #frames = new WeakMap<readonly Followed[], WeakRef<Uint8Array>>();
  #lastMessages: readonly Followed[] | undefined;
  #lastFrame: Uint8Array = nothing;

  constructor(make: (messages: readonly Followed[]) => Uint8Array) {
    this.#make = make;
  }

  of(messages: readonly Followed[]): Uint8Array {
    if (this.#lastMessages === messages) return this.#lastFrame;
    const frame = this.#frames.get(messages)?.deref() ?? this.#made(messages);
    // A snapshot must not stay in memory as long as its room.
    if (frame.length >= rememberFrom) queueMicrotask(() => this.#forget());
    this.#lastMessages = messages;
    this.#lastFrame = frame;
    return frame;
  }

  #made(messages: readonly Followed[]): Uint8Array {
    const frame = this.#make(messages);
    if (frame.length >= rememberFrom) this.#frames.set(messages, new WeakRef(frame));
    return frame;
  }

  #forget(): void {
    this.#lastMessages = undefined;
    this.#lastFrame = nothing;
  }
}
