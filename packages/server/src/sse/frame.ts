import { encodeCursor, encodeMessage, encodeSse, encodeSseComment } from "@millrace/core/wire";
import type { Followed } from "@millrace/core/reading";

/** Server-sent events as bytes, ready to be sent to any number of connections. Never changed. */
export interface Frame {
  /** The events. */
  readonly plain: Uint8Array;
  /** The same events as one chunk of HTTP/1.1: its length, they, and its end. */
  readonly chunked: Uint8Array;
}

/**
 * The bytes of some messages. An array is framed once for all viewers that hold it, and a message is
 * encoded once for every frame that it is in. The caches hold their bytes weakly: a frame that is no
 * longer being sent goes with the next garbage collection.
 */
export function frameOf(messages: readonly Followed[]): Frame {
  const known = frames.get(messages)?.deref();
  if (known !== undefined) return known;
  const pieces: Uint8Array[] = [];
  for (const { message, cursor } of messages) {
    // A cursor's text is letters, digits and `_-.~`: it can't end its line.
    pieces.push(Buffer.from(`id: ${encodeCursor(cursor)}\n`, "latin1"), dataOf(message));
  }
  const frame = frameBytes(pieces);
  frames.set(messages, new WeakRef(frame));
  return frame;
}

/** A comment line with the head, which keeps connections alive. It has no id and moves no cursor. */
export function heartbeatOf(head: number): Frame {
  return frameBytes([Buffer.from(encodeSseComment(String(head)))]);
}

const frames = new WeakMap<readonly Followed[], WeakRef<Frame>>();
const datas = new WeakMap<Followed["message"], WeakRef<Uint8Array>>();

function dataOf(message: Followed["message"]): Uint8Array {
  const known = datas.get(message)?.deref();
  if (known !== undefined) return known;
  const bytes = Buffer.from(encodeSse({ data: encodeMessage(message) }));
  datas.set(message, new WeakRef<Uint8Array>(bytes));
  return bytes;
}

/** One allocation for both: the events are a view into their chunk. */
function frameBytes(pieces: readonly Uint8Array[]): Frame {
  const size = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const head = Buffer.from(`${size.toString(16)}\r\n`, "latin1");
  const chunked = Buffer.concat([head, ...pieces, chunkEnd]);
  return { chunked, plain: chunked.subarray(head.length, head.length + size) };
}

const chunkEnd = Buffer.from("\r\n", "latin1");
