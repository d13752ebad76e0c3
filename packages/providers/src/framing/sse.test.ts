import { expect, test } from "vitest";
import type { Framed, VendorEvent } from "./framing.ts";
import { sseFraming } from "./sse.ts";

function frame(chunks: readonly (string | readonly number[])[]): readonly Framed<VendorEvent>[] {
  const framer = sseFraming({ limit: 1_000 }).open();
  const bytes = chunks.map((chunk) =>
    typeof chunk === "string" ? new TextEncoder().encode(chunk) : new Uint8Array(chunk),
  );
  return [...bytes.flatMap((chunk) => framer.feed(chunk)), ...framer.end()];
}

function values(chunks: readonly (string | readonly number[])[]): readonly unknown[] {
  return frame(chunks).map((framed) => (framed.kind === "event" ? framed.event.data : framed.kind));
}

const bom = [0xef, 0xbb, 0xbf];
const one = 'data: {"x":1}\n\n';

test.each([
  ["S02: a byte order mark is stripped once", [bom, one], [{ x: 1 }]],
  ["S03: … also if it is cut", [[0xef], [0xbb], [0xbf], one], [{ x: 1 }]],
  ["S04: a second one belongs to the name of its field", [one, bom, one], [{ x: 1 }]],
  ["S05: lines end with LF", ["event: e\ndata: {}\n\n"], [{}]],
  ["S05: … with CRLF", ["event: e\r\ndata: {}\r\n\r\n"], [{}]],
  ["S05: … with CR", ["event: e\rdata: {}\r\r"], [{}]],
  ["S05: … and all of these in one event", ["event: e\r\nid: 1\rdata: {}\n\n"], [{}]],
  ["S06: CRLF cut in two is one line end", ["data: {\r", "\ndata: }\r", "\n\r", "\n"], [{}]],
  ["S07: two CR are a blank line", ["data: {}\r\r", one], [{}, { x: 1 }]],
  ["S08: a field without a colon is empty", ["data\n\n"], ["alive"]],
  ["S09: one space after the colon does not count", ['data:{"x":1}\n\n'], [{ x: 1 }]],
  ["S09: … and more are JSON's own white space", ['data:   {"x":1}\n\n'], [{ x: 1 }]],
  ["S10: lines of data are joined", ['data: {"x":\ndata: 1}\n\n'], [{ x: 1 }]],
  ["S11: an event of endless lines is a fault", ["data: 1\n".repeat(100_000)], ["fault"]],
  ["S12: comments are signs of life", [": hello\n\n", ":\n\n", one], ["alive", "alive", { x: 1 }]],
  ["S13: names of fields are exact", ["foo: 1\n data: 2\nData: 3\n\n"], []],
  ["S14: an empty name is the default", [`event:\n${one}`], [{ x: 1 }]],
  ["S15: an event without its blank line is given", ['data: {"x":1}'], [{ x: 1 }]],
  ["S15: … and half an event is nothing", [`${one}data: {"x":`], [{ x: 1 }]],
  ["S16: an id with NUL is ignored", [`id: a\0b\n${one}`], [{ x: 1 }]],
  ["S17: an empty id is no event", ["id:\n\n", one], [{ x: 1 }]],
  ["S18: an endless id is a fault", [`id: ${"a".repeat(1_000_000)}`], ["fault"]],
  ["S19: a retry that is no number is ignored", ["retry: 1e3\nretry: -5\nretry: abc\n\n"], []],
  [
    "S20: a retry is a sign of life and sets no clock of ours",
    ["retry: 99999999999\n\n"],
    ["alive"],
  ],
  [
    "S23: a bad byte becomes U+FFFD, once said",
    ['data: {"x":"', [0xc3, 0x28], '"}\n\n'],
    ["lossy", { x: "\uFFFD(" }],
  ],
  [
    "S24: an overlong form is no slash",
    ['data: {"x":"', [0xc0, 0xaf], '"}\n\n'],
    ["lossy", { x: "\uFFFD\uFFFD" }],
  ],
  [
    "S25: an encoded surrogate is no character",
    ['data: {"x":"', [0xed, 0xa0, 0x80], '"}\n\n'],
    ["lossy", { x: "\uFFFD\uFFFD\uFFFD" }],
  ],
  ["S26: bytes that end in a character are no event", ['data: {"x":"', [0xf0, 0x9f]], ["lossy"]],
  ["S27: UTF-16 is no event", [Array.from(Buffer.from('data: {"x":1}\n\n', "utf16le"))], []],
  ["S28: a raw NUL in a string is no JSON", ['data: {"x":"\0"}\n\n'], ["bad_event"]],
  [
    "S29: a line without an end is a fault at the limit",
    Array.from({ length: 40 }, () => "data: ".padEnd(100, "x")),
    ["fault"],
  ],
  [
    "S30: a line that is no field and never ends is not kept",
    [...Array.from({ length: 50 }, () => "x".repeat(100)), "\n", one],
    [{ x: 1 }],
  ],
  ["S31: empty chunks are nothing", ["", "", one, ""], [{ x: 1 }]],
  [
    "S50: the sentinel may have spaces",
    ["data: [DONE]  \n\n", "data:[DONE]\n\n"],
    [undefined, undefined],
  ],
  ["S51: … and no small letters", ["data: [done]\n\n"], ["bad_event"]],
  ["S52: two documents are no JSON", ['data: {"a":1}\ndata: {"b":1}\n\n'], ["bad_event"]],
  ["J01: JSON that is cut is no JSON", ['data: {"a":1\n\n'], ["bad_event"]],
  [
    "a JSON value that is no object is no event",
    ["data: 5\n\n", "data: []\n\n"],
    ["bad_event", "bad_event"],
  ],
] as const)("%s", (_, chunks, expected) => {
  expect(values(chunks)).toEqual(expected);
});

test.each(["J02: 1,}", "J02: 'a'", "J02: NaN", "J02: 0x1", "J02: 01", "J02: .5", "J02: Infinity"])(
  "%s is no JSON",
  (row) => {
    expect(values([`data: {"a":${row.slice(5)}}\n\n`])).toEqual(["bad_event"]);
  },
);

test("S21, S22: characters come whole, wherever they are cut", () => {
  const text = "a\u00e9\u6f22\u5b57\u{1f469}\u200d\u{1f680}z";
  const bytes = [...new TextEncoder().encode(`data: ${JSON.stringify({ text })}\n\n`)];
  expect(values(bytes.map((byte) => [byte]))).toEqual([{ text }]);
  for (let cut = 1; cut < bytes.length; cut += 1) {
    expect(values([bytes.slice(0, cut), bytes.slice(cut)])).toEqual([{ text }]);
  }
});

test("a fault ends the framing, and the events before it stand", () => {
  expect(values([one, `data: ${"x".repeat(2_000)}`, "\n\n", one])).toEqual([{ x: 1 }, "fault"]);
});

test("the name of an event is the value of its field", () => {
  const [framed] = frame(['event: ping\ndata: {"type":"x"}\n\n']);
  expect(framed).toEqual({ kind: "event", event: { name: "ping", data: { type: "x" } } });
});

test("a line of the field error is an event of that name, wherever it is cut", () => {
  const line = 'error: {"code":500,"message":"gone"}\n\n';
  const expected = [
    { kind: "event", event: { name: "error", data: { error: { code: 500, message: "gone" } } } },
    { kind: "event", event: { name: "", data: { x: 1 } } },
    { kind: "event", event: { name: "error", data: { error: { code: 500, message: "gone" } } } },
  ];
  const whole = `${line}${one}${line}`;
  for (let cut = 0; cut <= whole.length; cut += 1) {
    expect(frame([whole.slice(0, cut), whole.slice(cut)])).toEqual(expected);
  }
  expect(frame(Array.from(whole))).toEqual(expected);
  expect(values(["error: gone\n\n"])).toEqual([{ error: { message: "gone" } }]);
});

test("words that only look like the field error stay as they are", () => {
  const data = 'data: {"error":"\\nerror: no"}\n\n';
  expect(values([data, "errors: 1\nerror\nerror:\n\n", one])).toEqual([
    { error: "\nerror: no" },
    { x: 1 },
  ]);
});
