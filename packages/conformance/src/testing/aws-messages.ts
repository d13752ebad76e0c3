import { crc32 } from "node:zlib";
import type { JsonObject } from "@millrace/core";

/** Reads the events of AWS's frames, and checks their lengths and checksums with Node's own function. */
export function readAwsEvents(bytes: Uint8Array): readonly (readonly [string, JsonObject])[] {
  const all = Buffer.from(bytes);
  const events: (readonly [string, JsonObject])[] = [];
  for (let at = 0; at < all.length;) {
    const length = all.readUInt32BE(at);
    const message = all.subarray(at, at + length);
    const headersLength = message.readUInt32BE(4);
    if (message.readUInt32BE(8) !== crc32(message.subarray(0, 8))) throw new Error("prelude");
    if (message.readUInt32BE(length - 4) !== crc32(message.subarray(0, length - 4))) {
      throw new Error("checksum");
    }
    const headers = message.subarray(12, 12 + headersLength);
    const start = headers.indexOf(":event-type") + ":event-type".length + 1;
    const name = headers.subarray(start + 2, start + 2 + headers.readUInt16BE(start)).toString();
    const payload = message.subarray(12 + headersLength, length - 4).toString();
    events.push([name, JSON.parse(payload) as JsonObject]);
    at += length;
  }
  return events;
}
