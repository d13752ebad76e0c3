import { encodeCursor, encodeMessage } from "@millrace/core/wire";
import type { Followed } from "@millrace/core/reading";
import type { Encoding } from "./encoding.ts";
import { FrameCache } from "./frame-cache.ts";

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
