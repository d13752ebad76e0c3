/** A minimal gRPC client to check that a server answers, without a dependency. */
import { connect, constants } from "node:http2";

/** One protobuf field: a count, a text, or a nested value. */
export function encodeField(number: number, value: number | string | Buffer): Buffer {
  if (typeof value === "number") {
    return Buffer.concat([encodeVarint(number * 8), encodeVarint(value)]);
  }
  const bytes = Buffer.from(value);
  return Buffer.concat([encodeVarint(number * 8 + 2), encodeVarint(bytes.length), bytes]);
}

function encodeVarint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}

/** Calls a method with one value and returns the answer's bytes. Rejects unless the status is OK. */
export function callGrpc(port: number, path: string, value: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`);
    const fail = (error: Error): void => {
      session.destroy();
      reject(error);
    };
    session.once("error", fail);
    const call = session.request({
      [constants.HTTP2_HEADER_METHOD]: "POST",
      [constants.HTTP2_HEADER_PATH]: path,
      [constants.HTTP2_HEADER_CONTENT_TYPE]: "application/grpc",
      [constants.HTTP2_HEADER_TE]: "trailers",
    });
    let status: unknown;
    let reason: unknown;
    const parts: Buffer[] = [];
    // A failed call may have its status in the headers, without trailers.
    const note = (headers: Readonly<Record<string, unknown>>): void => {
      status = headers["grpc-status"] ?? status;
      reason = headers["grpc-message"] ?? reason;
    };
    call.on("response", note).on("trailers", note);
    call.on("data", (part: Buffer) => parts.push(part));
    call.setTimeout(10_000, () => fail(new Error(`${path} does not answer`)));
    call.once("error", fail);
    call.once("end", () => {
      session.close();
      if (status === "0") resolve(Buffer.concat(parts).subarray(frameHead));
      else reject(new Error(`${path}: status ${String(status)}, ${String(reason)}`));
    });
    const head = Buffer.alloc(frameHead);
    head.writeUInt32BE(value.length, 1);
    call.end(Buffer.concat([head, value]));
  });
}

/** A flag for compression and four bytes of length. */
const frameHead = 5;
