import { readFileSync } from "node:fs";
import { crc32 as nodeCrc32 } from "node:zlib";
import { describe, expect, test } from "vitest";
import {
  awsChunk,
  awsEvent,
  awsException,
  awsMessage,
  awsRawMessage,
  joined,
} from "../testing/encode/aws-event-stream.ts";
import { awsEventStream } from "./aws-event-stream.ts";
import type { AwsEventStreamOptions } from "./aws-event-stream.ts";
import { readMessage, readPrelude } from "./aws-message.ts";
import { crc32 } from "./crc32.ts";
import type { Framed, VendorEvent } from "./framing.ts";

interface Vector {
  readonly name: string;
  readonly bytes: string;
  readonly headers?: Readonly<Record<string, readonly [string, unknown]>>;
  readonly payload?: string;
  readonly fails?: string;
}

const file = new URL("../../fixtures/aws-event-stream/vectors.json", import.meta.url);
const { vectors } = JSON.parse(readFileSync(file, "utf8")) as { vectors: readonly Vector[] };

function read(bytes: Uint8Array, options?: AwsEventStreamOptions): readonly Framed<VendorEvent>[] {
  const framer = awsEventStream(options).open();
  return [...framer.feed(bytes), ...framer.end()];
}

function faultOf(framed: readonly Framed<VendorEvent>[]): string | undefined {
  const last = framed.at(-1);
  return last?.kind === "fault" ? `${last.cause.code}: ${last.cause.message}` : undefined;
}

describe("AWS's published vectors", () => {
  test.each(vectors.filter(({ fails }) => fails === undefined))("$name is read", (vector) => {
    const bytes = new Uint8Array(Buffer.from(vector.bytes, "hex"));

    const prelude = readPrelude(bytes, bytes.length);
    const message = typeof prelude === "string" ? prelude : readMessage(bytes, prelude);

    if (typeof message === "string") throw new Error(message);
    const headers = Array.from(message.headers, ([name, { type, value }]) => [
      name,
      [type, typeof value === "bigint" ? Number(value) : value],
    ]);
    const expected = Object.entries(vector.headers ?? {}).map(([name, [type, value]]) => [
      name,
      [type, type === "binary" ? new Uint8Array(Buffer.from(String(value))) : value],
    ]);
    expect(headers).toEqual(expected);
    expect(Buffer.from(message.payload).toString()).toBe(vector.payload);
  });

  test.each(vectors.filter(({ fails }) => fails !== undefined))("$name is refused", (vector) => {
    const framed = read(new Uint8Array(Buffer.from(vector.bytes, "hex")));

    expect(faultOf(framed)).toContain(`bad_frame: a message can't be read: `);
    expect(faultOf(framed)).toContain(vector.fails);
  });
});

describe("a message", () => {
  test("is an event with its name and its JSON", () => {
    const framed = read(awsEvent("messageStart", '{"role":"assistant"}'));

    const event = { name: "messageStart", data: { role: "assistant" } };
    expect(framed).toEqual([{ kind: "event", event }]);
  });

  test("that is an exception becomes an error with the exception's name", () => {
    const framed = read(awsException("throttlingException", '{"message":"Too many requests"}'));

    const error = { type: "throttlingException", message: "Too many requests" };
    const event = { name: "error", data: { type: "error", error } };
    expect(framed).toEqual([{ kind: "event", event }]);
  });

  test("that is an error has its code and its message in headers", () => {
    const headers = { ":error-code": "InternalError", ":error-message": "An internal error" };
    const framed = read(awsMessage({ ...headers, ":message-type": "error" }, ""));

    const error = { type: "InternalError", message: "An internal error" };
    const event = { name: "error", data: { type: "error", error } };
    expect(framed).toEqual([{ kind: "event", event }]);
  });

  test("of a wrapped stream is the event in its bytes", () => {
    const framed = read(awsChunk('{"type":"ping"}'), { payload: "bytes" });

    expect(framed).toEqual([{ kind: "event", event: { name: "", data: { type: "ping" } } }]);
  });

  test.each([
    ["without bytes", '{"p":"x"}'],
    ["whose bytes are no base64", '{"bytes":"?"}'],
    ["whose bytes are no JSON", '{"bytes":"e30t"}'],
  ])("of a wrapped stream %s is a bad event", (_, payload) => {
    const framed = read(awsEvent("chunk", payload), { payload: "bytes" });

    expect(framed.map(({ kind }) => kind)).toEqual(["bad_event"]);
  });

  test("that is no JSON is a bad event, and the next one is read", () => {
    const framed = read(joined([awsEvent("a", "{"), awsEvent("b", "[1]"), awsEvent("c", "{}")]));

    expect(framed.map(({ kind }) => kind)).toEqual(["bad_event", "bad_event", "event"]);
  });

  test("without a payload is an event without fields", () => {
    expect(read(awsEvent("initial-response", ""))).toEqual([
      { kind: "event", event: { name: "initial-response", data: {} } },
    ]);
  });

  test("whose text is not UTF-8 is read with U+FFFD, which is reported once", () => {
    const bad = Buffer.concat([Buffer.from('{"text":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    const framed = read(joined([awsEvent("a", bad), awsEvent("a", bad)]));

    const event = { kind: "event", event: { name: "a", data: { text: "\uFFFD" } } };
    expect(framed).toEqual([{ kind: "lossy" }, event, event]);
  });

  test.each([
    ["of an unknown type", [1, 0x61, 10, 0]],
    ["that is cut in its name", [9, 0x61]],
    ["that is cut in its number", [1, 0x61, 5, 0, 0]],
    ["that is cut in its text", [1, 0x61, 7, 0, 9, 0x62]],
    ["that is cut before its value", [1, 0x61]],
    ["that comes twice", [1, 0x61, 0, 1, 0x61, 1]],
  ])("with a header %s is refused", (_, header) => {
    const framed = read(awsRawMessage(Uint8Array.from(header), "{}"));

    expect(faultOf(framed)).toContain("bad_frame");
  });
});

describe("a length that is not true", () => {
  test("is found with the first 12 bytes, before any byte of its message came", () => {
    const [framed] = awsEventStream({ limit: 1_000 })
      .open()
      .feed(awsEvent("a", " ".repeat(2_000)).subarray(0, 12));

    expect(faultOf([framed as Framed<VendorEvent>])).toContain(
      "event_too_large: a message can't be read: it is longer than 1000 bytes",
    );
  });

  test.each([
    ["less than its own parts", [15, 0]],
    ["less than its headers", [40, 30]],
    ["headers of 4 GB", [100, 0xffffffff]],
  ])("as %s is refused", (_, [total = 0, headers = 0]) => {
    const prelude = Buffer.alloc(12);
    prelude.writeUInt32BE(total, 0);
    prelude.writeUInt32BE(headers, 4);
    prelude.writeUInt32BE(nodeCrc32(prelude.subarray(0, 8)), 8);

    expect(faultOf(read(new Uint8Array(prelude)))).toBeDefined();
  });

  test("is followed by nothing, whatever comes", () => {
    const framer = awsEventStream().open();
    const broken = awsEvent("a", "{}");
    broken[broken.length - 1] = (broken.at(-1) ?? 0) ^ 1;

    expect(framer.feed(broken).map(({ kind }) => kind)).toEqual(["fault"]);
    expect(framer.feed(awsEvent("b", "{}"))).toEqual([]);
  });
});

test("a message that is cut at the end of the bytes is left out", () => {
  const bytes = joined([awsEvent("a", "{}"), awsEvent("b", "{}")]);

  const framed = read(bytes.subarray(0, -1));

  expect(framed).toEqual([{ kind: "event", event: { name: "a", data: {} } }]);
});

test("a body that is a text gives no event, so that the transport reports what it says", () => {
  expect(read(new TextEncoder().encode('{"message":"no"}'))).toEqual([]);
  expect(read(new TextEncoder().encode("<html>"))).toEqual([]);
});

test("the checksum is the one that Node has", () => {
  const bytes = Uint8Array.from({ length: 1_000 }, (_, at) => (at * 31) & 0xff);

  expect(crc32(bytes)).toBe(nodeCrc32(bytes));
  expect(crc32(new Uint8Array())).toBe(0);
  expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
});
