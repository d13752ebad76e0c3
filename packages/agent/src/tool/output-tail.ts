import { headEnd, tailStart, utf8Length } from "../text-bytes.ts";

/** Text of any length of which the beginning and the end are kept. */
export interface Tail {
  /** Takes the next text. Gives what of it belongs to the beginning and may be shown at once. */
  readonly push: (text: string) => string;
  /** Nothing more comes: what goes after the beginning, with a note if bytes were left out. */
  readonly end: () => string;
}

/**
 * Keeps the first `headBytes` and the last `tailBytes` of what is pushed, as UTF-8 bytes. All that
 * `push` gave and then `end` are the whole, if it fits in both together; otherwise the two with a
 * note between them. Nothing is cut inside a character. Memory is bounded by twice the tail, and the
 * cost is linear in the text, however it is cut into pieces, as long as no piece ends inside a
 * surrogate pair.
 */
export function createTail(headBytes: number, tailBytes: number): Tail {
  // A whole that fits may leave up to three bytes of the head empty, which then are in the tail.
  const keep = tailBytes + 4;
  let room = headBytes;
  let filling = true;
  let total = 0;
  let headSize = 0;
  let pieces: string[] = [];
  let pending = 0;

  const shorten = (): string => {
    const kept = copied(pieces.join("").slice(-keep));
    pieces = [kept];
    pending = kept.length;
    return kept;
  };

  const push = (text: string): string => {
    total += utf8Length(text);
    if (!filling) {
      hold(text);
      return "";
    }
    const length = headEnd(text, room);
    const head = text.slice(0, length);
    const size = utf8Length(head);
    room -= size;
    headSize += size;
    if (length === text.length) return head;
    // Closed for good: a shorter character that came later would stand in the wrong place.
    filling = false;
    hold(text.slice(length));
    return copied(head);
  };

  const hold = (text: string): void => {
    pieces.push(text.length > keep ? copied(text.slice(-keep)) : text);
    pending += Math.min(text.length, keep);
    if (pending > 2 * keep) shorten();
  };

  const end = (): string => {
    const held = pieces.join("");
    if (total <= headBytes + tailBytes) return held;
    const tail = held.slice(tailStart(held, tailBytes));
    const omitted = total - headSize - utf8Length(tail);
    return `\n… ${omitted} bytes left out …\n${tail}`;
  };

  return { push, end };
}

/**
 * Text of at most that many UTF-8 bytes: longer text loses its middle, with a note of how much. The note
 * comes on top of the limit. Text at the limit is unchanged.
 */
export function capText(text: string, limitBytes: number): string {
  if (text.length * 3 <= limitBytes) return text;
  const half = Math.max(0, Math.floor(limitBytes / 2));
  const tail = createTail(half, Math.max(0, Math.floor(limitBytes) - half));
  const head = tail.push(text);
  return head + tail.end();
}

/** The same text on its own: engines let a slice hold the whole that it was cut from. */
function copied(text: string): string {
  return text === "" ? "" : ` ${text}`.slice(1);
}
