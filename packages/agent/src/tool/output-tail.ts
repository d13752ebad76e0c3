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
    const length = prefixLength(text, room);
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
    const tail = held.slice(held.length - suffixLength(held, tailBytes));
    const omitted = total - headSize - utf8Length(tail);
    return `\n… ${omitted} bytes left out …\n${tail}`;
  };

  return { push, end };
}

/**
 * Text of at most that many UTF-8 bytes: longer text loses its middle, and says how much. The note
 * comes on top of the limit. Text at the limit is unchanged.
 */
export function capText(text: string, limitBytes: number): string {
  if (text.length * 3 <= limitBytes) return text;
  const half = Math.max(0, Math.floor(limitBytes / 2));
  const tail = createTail(half, Math.max(0, Math.floor(limitBytes) - half));
  const head = tail.push(text);
  return head + tail.end();
}

/** How many bytes the text takes as UTF-8. */
function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) bytes += unitBytes(text.charCodeAt(at));
  return bytes;
}

/** A half of a surrogate pair counts two, so that the pair counts four. */
function unitBytes(code: number): number {
  if (code < 0x80) return 1;
  return code < 0x800 || isHalf(code) ? 2 : 3;
}

function isHalf(code: number): boolean {
  return (code & 0xf800) === 0xd800;
}

/** How many units from the beginning fit, without half a character. */
function prefixLength(text: string, bytes: number): number {
  let left = bytes;
  let at = 0;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    const units = isHalf(code) ? 2 : 1;
    left -= unitBytes(code) * units;
    if (left < 0) break;
    at += units;
  }
  return Math.min(at, text.length);
}

/** How many units before the end fit, without half a character. */
function suffixLength(text: string, bytes: number): number {
  let left = bytes;
  let at = text.length;
  while (at > 0) {
    const code = text.charCodeAt(at - 1);
    const units = isHalf(code) ? 2 : 1;
    left -= unitBytes(code) * units;
    if (left < 0) break;
    at -= units;
  }
  return text.length - Math.max(at, 0);
}

/** The same text on its own: engines let a slice hold the whole that it was cut from. */
function copied(text: string): string {
  return text === "" ? "" : ` ${text}`.slice(1);
}
