import { crc32 } from "node:zlib";

/**
 * Writes messages of `application/vnd.amazon.eventstream`, by AWS's description of the format. Shares no
 * code with our framing: its checksums are Node's own.
 */
export function awsMessage(
  headers: Readonly<Record<string, string>>,
  payload: string | Uint8Array,
): Uint8Array {
  return awsRawMessage(
    Buffer.concat(Object.entries(headers).map(([name, value]) => textHeader(name, value))),
    payload,
  );
}

/** A message whose headers are given as bytes, so that they may be of any type, or broken. */
export function awsRawMessage(headers: Uint8Array, payload: string | Uint8Array): Uint8Array {
  const body = typeof payload === "string" ? Buffer.from(payload) : payload;
  const total = 12 + headers.length + body.length + 4;
  const message = Buffer.alloc(total);
  message.writeUInt32BE(total, 0);
  message.writeUInt32BE(headers.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  message.set(headers, 12);
  message.set(body, 12 + headers.length);
  message.writeUInt32BE(crc32(message.subarray(0, total - 4)), total - 4);
  return new Uint8Array(message);
}

function textHeader(name: string, value: string): Buffer {
  const text = Buffer.from(value);
  const head = Buffer.from([Buffer.byteLength(name), ...Buffer.from(name), 7, 0, 0]);
  head.writeUInt16BE(text.length, head.length - 2);
  return Buffer.concat([head, text]);
}

/** An event of a service, as Bedrock sends it. */
export function awsEvent(type: string, payload: string | Uint8Array): Uint8Array {
  const headers = { ":event-type": type, ":content-type": "application/json" };
  return awsMessage({ ...headers, ":message-type": "event" }, payload);
}

export function awsException(type: string, payload: string): Uint8Array {
  const headers = { ":exception-type": type, ":content-type": "application/json" };
  return awsMessage({ ...headers, ":message-type": "exception" }, payload);
}

/** An event of `InvokeModelWithResponseStream`: the model's own event in base64, and padding. */
export function awsChunk(text: string): Uint8Array {
  const bytes = Buffer.from(text).toString("base64");
  return awsEvent(
    "chunk",
    JSON.stringify({ bytes, p: "abcdefghijklmnop".slice(text.length % 16) }),
  );
}

/** The bytes of several messages. */
export function joined(messages: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(messages));
}
