// Lengths are of UTF-8 bytes, as everywhere in the protocol. Counted here by hand: a pure folder has
// no buffers, and most texts are so short that an encoder would cost more than it counts. Half a
// surrogate pair counts as the replacement character that it becomes on the way.

/** The length of a text in UTF-8 bytes. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isPair(text, at)) {
      bytes += 4;
      at += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** True if the text has at most so many bytes. Looks at its characters only where it has to. */
export function fits(text: string, bytes: number): boolean {
  if (text.length * 3 <= bytes) return true;
  return text.length <= bytes && utf8Length(text) <= bytes;
}

/** Where the longest beginning of at most so many bytes ends, between two characters. */
export function headEnd(text: string, bytes: number): number {
  let room = bytes;
  let at = 0;
  while (at < text.length) {
    const point = text.codePointAt(at) ?? 0;
    room -= sizeOf(point);
    if (room < 0) break;
    at += point > 0xffff ? 2 : 1;
  }
  return at;
}

/** Where the longest end of at most so many bytes begins, between two characters. */
export function tailStart(text: string, bytes: number): number {
  let room = bytes;
  let at = text.length;
  while (at > 0) {
    const before = at >= 2 && isPair(text, at - 2) ? at - 2 : at - 1;
    room -= sizeOf(text.codePointAt(before) ?? 0);
    if (room < 0) break;
    at = before;
  }
  return at;
}

function sizeOf(point: number): number {
  if (point < 0x80) return 1;
  if (point < 0x800) return 2;
  return point < 0x10000 ? 3 : 4;
}

function isPair(text: string, at: number): boolean {
  return (text.codePointAt(at) ?? 0) > 0xffff;
}
