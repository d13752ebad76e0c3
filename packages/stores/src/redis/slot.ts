/** A cluster has this many slots. */
export const slotCount = 16_384;

/** The slot of a key or a shard channel, by the rule of the cluster specification. */
export function slotOf(key: string): number {
  const from = key.indexOf("{");
  const to = from < 0 ? -1 : key.indexOf("}", from + 1);
  return crc16(Buffer.from(to > from + 1 ? key.slice(from + 1, to) : key)) % slotCount;
}

/** CRC16-XMODEM, bit by bit without a table: it is computed once for each session. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = ((crc & 0x80_00) === 0 ? crc << 1 : (crc << 1) ^ 0x10_21) & 0xff_ff;
    }
  }
  return crc;
}
