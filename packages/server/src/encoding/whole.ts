import { encodeCursor, encodeMessage } from "@millrace/core/wire";
import type { Followed } from "@millrace/core/reading";
import type { Encoding } from "./encoding.ts";

/** Every message complete in itself, for eyes, curl, and readers without a state. */
export const whole: Encoding = {
  name: "whole",
  share: () => {
    const frames = new FrameCache(wholeFrame);
    const encoder = { encode: (messages: readonly Followed[]) => frames.of(messages) };
    return {
      applied: (_, followed) => wholeData(followed.message).length,
      open: () => encoder,
    };
  },
};

/** Messages as one piece of bytes. */
export function wholeFrame(messages: readonly Followed[]): Uint8Array {
  return Buffer.concat(messages.flatMap(wholeLines));
}

/** One message as the lines of an event. */
export function wholeLines({ message, cursor }: Followed): readonly Uint8Array[] {
  return [idLine(cursor), wholeData(message)];
}

/** A cursor's text is letters, digits and `_-.~`: it can't end its line. */
function idLine(cursor: Followed["cursor"]): Uint8Array {
  return Buffer.from(`id: ${encodeCursor(cursor)}\n`, "latin1");
}

/**
 * The data line of a message. Encoded once for all frames that it is in, of whichever form and room. Held
 * weakly: what is no longer being sent goes with the next garbage collection.
 */
export function wholeData(message: Followed["message"]): Uint8Array {
  const known = datas.get(message)?.deref();
  if (known !== undefined) return known;
  // JSON has no line break, so it is one line.
  const bytes = Buffer.from(`data: ${encodeMessage(message)}\n\n`);
  datas.set(message, new WeakRef<Uint8Array>(bytes));
  return bytes;
}

const datas = new WeakMap<Followed["message"], WeakRef<Uint8Array>>();

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
