import { createGunzip } from "node:zlib";
import type { Cause } from "@millrace/core";
import { failure } from "../failure.ts";

/** Decodes the bytes of a body and passes them on. */
export interface BodyDecoder {
  readonly write: (bytes: Uint8Array) => void;
  readonly end: () => void;
  readonly close: () => void;
}

export interface DecodedBody {
  readonly received: (bytes: Uint8Array) => void;
  readonly ended: () => void;
  readonly failed: (cause: Cause) => void;
}

/** The size limit of a decoded body. */
const inflatedLimit = 64 * 1024 * 1024;

/**
 * The decoder for a content encoding, or the cause why there is none. Requests ask for no encoding,
 * but some proxies compress anyway. One layer of gzip is decoded, and a chain is refused. `decoded`:
 * the bytes are decoded already, as by `fetch`, which has no limit of its own; so they are counted here.
 */
export function openBody(
  encoding: string | undefined,
  decoded: boolean,
  body: DecodedBody,
): BodyDecoder | Cause {
  const name = (encoding ?? "").trim().toLowerCase();
  if (name === "" || name === "identity") {
    return { write: body.received, end: body.ended, close: () => undefined };
  }
  const received = limited(body);
  if (decoded)
    return { write: (bytes) => void received(bytes), end: body.ended, close: () => undefined };
  if (name !== "gzip" && name !== "x-gzip") {
    const evidence = { encoding: name.slice(0, 100) };
    return failure("bad_encoding", "the vendor compressed its answer in an unknown way", evidence);
  }
  const gunzip = createGunzip({ flush: 2 });
  gunzip.on("data", (bytes: Buffer) => void (received(bytes) || gunzip.destroy()));
  gunzip.on("end", body.ended);
  gunzip.on("error", (error: NodeJS.ErrnoException) => {
    const cut = error.code === "Z_BUF_ERROR";
    const code = cut ? "truncated_transport" : "bad_encoding";
    body.failed(failure(code, `the compressed body can't be read: ${error.message}`));
  });
  return {
    write: (bytes) => void gunzip.write(Buffer.from(bytes)),
    end: () => void gunzip.end(),
    close: () => void gunzip.destroy(),
  };
}

/** Passes bytes on up to the limit, and then fails the body. False from then on. */
function limited({ received, failed }: DecodedBody): (bytes: Uint8Array) => boolean {
  let size = 0;
  return (bytes) => {
    size += bytes.length;
    if (size <= inflatedLimit) received(bytes);
    else failed(failure("body_too_large", `the body is larger than ${inflatedLimit} bytes`));
    return size <= inflatedLimit;
  };
}
