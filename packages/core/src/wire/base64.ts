const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const values = new Map(Array.from(alphabet, (letter, value) => [letter.charCodeAt(0), value]));
const codes = Array.from(alphabet, (letter) => letter.charCodeAt(0));
const padding = "=".charCodeAt(0);
/** Letters become text this many at a time: a multiple of four, and few enough for an argument list. */
const pieceLength = 8_192;

/** Standard base64 with padding. Written out because it must also run where there is no `Buffer` or `btoa`. */
export function encodeBase64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  const piece = new Uint8Array(pieceLength);
  let filled = 0;
  for (let at = 0; at < bytes.length; at += 3) {
    const left = bytes.length - at;
    const triple = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    piece[filled] = codes[triple >> 18] ?? 0;
    piece[filled + 1] = codes[(triple >> 12) & 63] ?? 0;
    piece[filled + 2] = left > 1 ? (codes[(triple >> 6) & 63] ?? 0) : padding;
    piece[filled + 3] = left > 2 ? (codes[triple & 63] ?? 0) : padding;
    filled += 4;
    if (filled < pieceLength) continue;
    pieces.push(String.fromCharCode(...piece));
    filled = 0;
  }
  pieces.push(String.fromCharCode(...piece.subarray(0, filled)));
  return pieces.join("");
}

/** The bytes, or nothing if the text is not exactly what `encodeBase64` writes. */
export function decodeBase64(text: string): Uint8Array | undefined {
  if (text.length % 4 !== 0) return undefined;
  const padded = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padded);
  const letters = text.length - padded;
  let bits = 0;
  let held = 0;
  let filled = 0;
  for (let at = 0; at < letters; at += 1) {
    const value = values.get(text.charCodeAt(at));
    if (value === undefined) return undefined;
    held = ((held << 6) | value) & 0xffff;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[filled] = (held >> bits) & 0xff;
    filled += 1;
  }
  // Left-over bits that are not zero would be a second spelling of the same bytes.
  return (held & ((1 << bits) - 1)) === 0 ? bytes : undefined;
}
