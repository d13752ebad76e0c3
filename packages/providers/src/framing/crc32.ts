/** The remainder of each byte by the polynomial of IEEE 802.3, in its reflected form. */
const table: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

/** The CRC-32 of the bytes from `from` to `to`. In plain code, because framings use no `node:zlib`. */
export function crc32(bytes: Uint8Array, from = 0, to: number = bytes.length): number {
  let rest = 0xffffffff;
  for (let at = from; at < to; at += 1) {
    rest = (rest >>> 8) ^ (table[(rest ^ (bytes[at] as number)) & 0xff] as number);
  }
  return ~rest >>> 0;
}
