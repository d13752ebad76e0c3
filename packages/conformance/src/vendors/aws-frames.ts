import type { JsonObject } from "@millrace/core";

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value;
});

function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ (table[(sum ^ byte) & 0xff] ?? 0);
  return (sum ^ 0xffffffff) >>> 0;
}

/** Frames of `application/vnd.amazon.eventstream`, one for each event. */
export function awsFrames(
  events: readonly (readonly [type: string, data: JsonObject])[],
): Uint8Array {
  return Uint8Array.from(
    Buffer.concat(events.map(([type, data]) => frame(type, JSON.stringify(data)))),
  );
}

function frame(type: string, payload: string): Uint8Array {
  const headers = Buffer.concat([
    header(":event-type", type),
    header(":content-type", "application/json"),
    header(":message-type", "event"),
  ]);
  const body = Buffer.from(payload);
  const length = 12 + headers.length + body.length + 4;
  const bytes = Buffer.alloc(length);
  bytes.writeUInt32BE(length, 0);
  bytes.writeUInt32BE(headers.length, 4);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8);
  bytes.set(headers, 12);
  bytes.set(body, 12 + headers.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(0, length - 4)), length - 4);
  return bytes;
}

/** A header of type 7, which is a text. */
function header(name: string, value: string): Uint8Array {
  const text = Buffer.from(value);
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7, text.length >> 8, text.length & 0xff]),
    text,
  ]);
}
