import { describe, expect, it } from "vitest";
import { MillraceError } from "../errors.ts";
import { createSseDecoder, encodeSse, encodeSseComment } from "./sse.ts";
import type { SseItem } from "./sse.ts";

function decode(...chunks: readonly string[]): readonly SseItem[] {
  const decoder = createSseDecoder();
  return chunks.flatMap((chunk) => decoder.feed(chunk));
}

function message(data: string, id = "", event = "message"): SseItem {
  return { kind: "event", event, data, id };
}

/** The same text whole, cut at every single place, and letter by letter. */
function everyCut(text: string): readonly (readonly SseItem[])[] {
  const cuts = Array.from({ length: text.length + 1 }, (_, at) =>
    decode(text.slice(0, at), text.slice(at)),
  );
  return [decode(text), decode(...text.split("")), ...cuts];
}

describe("encodeSse", () => {
  it("writes type, id, retry and data, each on a line of its own, and a blank line", () => {
    expect(encodeSse({ data: "x", event: "fact", id: "7", retry: 1500 })).toBe(
      "event: fact\nid: 7\nretry: 1500\ndata: x\n\n",
    );
    expect(encodeSse({ data: "" })).toBe("data: \n\n");
  });

  it("data with line ends of any sort becomes several data lines", () => {
    expect(encodeSse({ data: "a\nb\r\nc\rd" })).toBe("data: a\ndata: b\ndata: c\ndata: d\n\n");
  });

  it("a wait is a whole number of 0 or more", () => {
    expect(encodeSse({ data: "", retry: 12.9 })).toContain("retry: 12\n");
    expect(encodeSse({ data: "", retry: -5 })).toContain("retry: 0\n");
  });

  it.each(["a\nb", "a\rb", "a\r\nb", "\n", "a\0"])(
    "the text %j can be neither an id nor a type nor a comment (H24)",
    (text) => {
      const attempts = [
        () => encodeSse({ data: "", id: text }),
        () => encodeSse({ data: "", event: text }),
        () => encodeSseComment(text),
      ];

      for (const attempt of attempts) {
        expect(attempt).toThrow(MillraceError);
        expect(attempt).toThrow(expect.objectContaining({ code: "invalid_frame" }) as Error);
      }
    },
  );

  it("a comment is no event", () => {
    expect(encodeSseComment()).toBe(": \n\n");
    expect(decode(encodeSseComment("still here"))).toStrictEqual([]);
  });

  it("forged frames in the data are data (H23)", () => {
    const forged = "x\n\nevent: approved\nid: 99\nretry: 1\ndata: yes\n\n: c\n";

    const items = everyCut(encodeSse({ data: forged, id: "1" }));

    for (const found of items) expect(found).toStrictEqual([message(forged, "1")]);
  });
});

describe("decoding, by the rows of the catalogue", () => {
  it.each<[string, string, readonly SseItem[]]>([
    ["S02: a byte order mark at the start is not there", "\uFEFFdata: x\n\n", [message("x")]],
    ["S04: a second one is part of a name", "data: x\n\uFEFFdata: y\n\n", [message("x")]],
    ["S04: two at the start", "\uFEFF\uFEFFdata: x\n\n", []],
    ["S05: LF", "data: a\ndata: b\n\n", [message("a\nb")]],
    ["S05: CRLF", "data: a\r\ndata: b\r\n\r\n", [message("a\nb")]],
    ["S05: CR", "data: a\rdata: b\r\r", [message("a\nb")]],
    ["S05: mixed", "data: a\r\ndata: b\rdata: c\n\r\n", [message("a\nb\nc")]],
    ["S07: two CRs end an event", "data: a\r\rdata: b\r\r", [message("a"), message("b")]],
    ["S08: data without a colon", "data\n\n", [message("")]],
    [
      "S09: one space goes",
      "data:x\n\ndata: x\n\ndata:  x\n\n",
      [message("x"), message("x"), message(" x")],
    ],
    ["S10: two data lines", "data: a\ndata: b\n\n", [message("a\nb")]],
    ["S10: two empty data lines", "data\ndata\n\n", [message("\n")]],
    ["S12: comments", ": hi\n:\ndata: x\n: in between\ndata: y\n\n: bye\n\n", [message("x\ny")]],
    ["S13: names are exact", "foo: bar\n data: x\nData: x\ndata : x\ndatax\n\n", []],
    ["S14: an empty type is the default", "event:\ndata: x\n\n", [message("x")]],
    ["the last type counts", "event: a\nevent: b\ndata: x\n\n", [message("x", "", "b")]],
    [
      "a type is for one event",
      "event: a\ndata: x\n\ndata: y\n\n",
      [message("x", "", "a"), message("y")],
    ],
    ["a type without data is forgotten", "event: a\n\ndata: y\n\n", [message("y")]],
    ["S15: an event that no blank line ends", "data: x\n\ndata: y\n", [message("x")]],
    [
      "S16: an id with NUL is ignored",
      "id: a\ndata: x\n\nid: b\0c\ndata: y\n\n",
      [message("x", "a"), message("y", "a")],
    ],
    [
      "S17: an empty id empties it",
      "id: a\ndata: x\n\nid\ndata: y\n\n",
      [message("x", "a"), message("y", "")],
    ],
    [
      "an id stays until the next one",
      "id: a\ndata: x\n\ndata: y\n\n",
      [message("x", "a"), message("y", "a")],
    ],
    ["an id without data counts", "id: a\n\ndata: y\n\n", [message("y", "a")]],
    ["an id may hold colons and spaces", "id:  a: b\ndata: y\n\n", [message("y", " a: b")]],
    [
      "S19: waits that are no numbers",
      "retry: 1e3\nretry: -5\nretry: abc\nretry\nretry: 1.5\nretry: ٣\n\n",
      [],
    ],
    ["a wait", "retry: 1500\n\n", [{ kind: "retry", ms: 1500 }]],
    [
      "S20: a wait is at most 30 seconds",
      "retry: 99999999999\n\n",
      [{ kind: "retry", ms: 30_000 }],
    ],
    ["S20: a wait of 400 digits", `retry: ${"9".repeat(400)}\n\n`, [{ kind: "retry", ms: 30_000 }]],
    ["blank lines alone", "\n\r\n\r\n\n", []],
    [
      "other line ends are text",
      "data: a\u2028b\u0085c\vd\fe\n\n",
      [message("a\u2028b\u0085c\vd\fe")],
    ],
    ["characters of two units", "data: 😀\ndata: e\u0301\n\n", [message("😀\ne\u0301")]],
  ])("%s", (_, text, expected) => {
    for (const items of everyCut(text)) expect(items).toStrictEqual(expected);
  });

  it("S03: a byte order mark in three chunks of bytes is not there either", () => {
    const bytes = Buffer.from("\uFEFFdata: x\n\n");
    const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
    const decoder = createSseDecoder();

    const items = [...bytes].flatMap((byte) =>
      decoder.feed(utf8.decode(Uint8Array.of(byte), { stream: true })),
    );

    expect(items).toStrictEqual([message("x")]);
  });

  it("S06: an LF that follows a CR in the next chunk is no second line end", () => {
    expect(decode("data: a\r", "\ndata: b\r", "\n\r", "\n")).toStrictEqual([message("a\nb")]);
    expect(decode("data: a\r", "", "\n", "data: b\n\n")).toStrictEqual([message("a\nb")]);
  });

  it("S31: chunks without content change nothing", () => {
    expect(decode("", "", "\uFEFFdata: x", "", "\n", "", "\n")).toStrictEqual([message("x")]);
  });
});

describe("the limit", () => {
  const overflow: SseItem = { kind: "overflow" };

  it("an event within the limit comes, and one beyond it ends the stream", () => {
    const line = "data: 1234\n"; // ten letters are held for it
    const feed = (limit: number): readonly SseItem[] =>
      createSseDecoder({ limit }).feed(`${line}\n${line}${line}\n`);

    expect(feed(20)).toStrictEqual([message("1234"), message("1234\n1234")]);
    expect(feed(19)).toStrictEqual([message("1234"), overflow]);
    expect(feed(9)).toStrictEqual([overflow]);
  });

  it("nothing comes after an overflow, which is reported once", () => {
    const decoder = createSseDecoder({ limit: 5 });

    expect(decoder.feed("data: 123456")).toStrictEqual([overflow]);
    expect(decoder.feed("\n\ndata: x\n\n")).toStrictEqual([]);
    expect(decoder.feed("data: 1234567\n\n")).toStrictEqual([]);
  });

  it("S11: 100,000 data lines of one event are an overflow", () => {
    const decoder = createSseDecoder({ limit: 100_000 });

    const items = Array.from({ length: 100_000 }, () => decoder.feed("data:\n")).flat();

    expect(items).toStrictEqual([overflow]);
  });

  it.each([
    ": a comment that is long\ndata: x\n\n",
    "id: 0123456789\ndata: x\n\n",
    "foo0123456789\n\n",
  ])("S18: a line beyond the limit is an overflow, however %j is cut", (text) => {
    const results = [1, 3, 7, text.length].map((size) => {
      const decoder = createSseDecoder({ limit: 9 });
      const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
      return chunks.flatMap((chunk) => decoder.feed(chunk));
    });

    for (const items of results) expect(items).toStrictEqual([overflow]);
  });

  it("comments and other fields do not add up to an overflow", () => {
    const decoder = createSseDecoder({ limit: 20 });

    const items = Array.from({ length: 1_000 }, () => decoder.feed(": alive\nid: 1\n")).flat();

    expect([...items, ...decoder.feed("data: x\n\n")]).toStrictEqual([message("x", "1")]);
  });

  it("S29: a line without end is held up to the limit and no further", () => {
    const decoder = createSseDecoder({ limit: 1024 * 1024 });
    const chunk = "x".repeat(64 * 1024);

    const items = Array.from({ length: 1024 }, () => decoder.feed(chunk));

    expect(items.flat()).toStrictEqual([overflow]);
    expect(items.findIndex((found) => found.length > 0)).toBe(16);
  });
});
