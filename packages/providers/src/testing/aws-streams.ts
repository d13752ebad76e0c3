import { awsChunk, awsEvent, awsException, awsMessage, joined } from "./encode/aws-event-stream.ts";

/**
 * Turns a section of a fixture, one message in each line, into the bytes of an event stream:
 *
 *     messageStart {"role":"assistant"}
 *     !throttlingException {"message":"Too many requests"}
 *     !!InternalError An internal error
 *     (drop 3)
 *
 * `!` is an exception and `!!` an error of the service. `(drop n)` leaves out the last bytes so far, and
 * `(flip)` changes the last one.
 */
export function awsBytes(section: Uint8Array): Uint8Array<ArrayBuffer> {
  let bytes: Uint8Array = new Uint8Array();
  for (const line of Buffer.from(section).toString("utf8").split("\n")) {
    if (line === "") continue;
    bytes = withLine(bytes, line);
  }
  return new Uint8Array(bytes);
}

function withLine(bytes: Uint8Array, line: string): Uint8Array {
  const drop = /^\(drop (\d+)\)$/.exec(line)?.[1];
  if (drop !== undefined) return bytes.subarray(0, -Number(drop));
  if (line === "(flip)") {
    const flipped = bytes.slice();
    flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 1;
    return flipped;
  }
  const [, mark = "", name = "", payload = ""] = /^(!*)(\S+) ?(.*)$/.exec(line) ?? [];
  if (mark === "!!") {
    const headers = { ":error-code": name, ":error-message": payload, ":message-type": "error" };
    return joined([bytes, awsMessage(headers, "")]);
  }
  const write = mark === "!" ? awsException : awsEvent;
  return joined([bytes, write(name, payload)]);
}

/** The events of Anthropic's API as InvokeModelWithResponseStream sends them. */
export function awsChunks(events: readonly unknown[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(joined(events.map((event) => awsChunk(JSON.stringify(event)))));
}

/** Where each message of an event stream ends, by its length. */
export function awsEnds(bytes: Uint8Array): readonly number[] {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ends: number[] = [];
  for (let at = 0; at + 16 <= bytes.length;) {
    at += Math.max(16, view.readUInt32BE(at));
    if (at <= bytes.length) ends.push(at);
  }
  return ends;
}
