import { partId } from "@millrace/core/writing";
import type { FilePart, MediaPart } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { attachmentOf, inlined, refuse, textOf } from "./attachment.ts";

const vendor = { name: "The vendor", takes: "text" };
const id = partId("p1");

function read(part: MediaPart | FilePart): { type: string; text: string | undefined } {
  const given = attachmentOf(part, vendor);
  const text = given.bytes === undefined ? given.url : Buffer.from(given.bytes).toString("latin1");
  return { type: given.type, text };
}

function file(mediaType: string, content: string, name = "a"): FilePart {
  return { kind: "file", id, name, mediaType, bytes: Buffer.from(content, "latin1") };
}

describe("a media type", () => {
  test.each([
    ["Image/JPG", "image/jpeg"],
    ["image/x-png", "image/png"],
    [" text/plain ; charset=utf-8", "text/plain"],
    ["application/x-pdf", "application/pdf"],
  ])("%s is %s", (given, type) => {
    expect(read(file(given, "x")).type).toBe(type);
  });

  test.each([
    ["a.docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    ["A.PDF", "application/pdf"],
    ["notes.md", "text/markdown"],
    ["nothing", ""],
  ])("that names no type is that of the extension: %s", (name, type) => {
    expect(read(file("application/octet-stream", "x", name)).type).toBe(type);
  });

  test("of an image is that of its bytes", () => {
    expect(read(file("image/jpeg", "\u0089PNG\r\n")).type).toBe("image/png");
    expect(read(file("", "%PDF-1.7")).type).toBe("application/pdf");
  });
});

describe("a data URL", () => {
  test.each([
    ["data:text/csv;base64,YTti", "text/csv", "a;b"],
    ["DATA:Text/CSV;charset=utf-8;base64,YTti", "text/csv", "a;b"],
    ["data:text/csv;base64,YT%74i", "text/csv", "a;b"],
    ["data:text/csv;base64,YQ", "text/csv", "a"],
    ["data:text/csv;base64,__8=", "text/csv", "\u00ff\u00ff"],
    ["data:text/csv,a%3Bb%0a", "text/csv", "a;b\n"],
    ["data:,plain", "image/png", "plain"],
    ["data:image/gif;base64,YQ==", "image/gif", "a"],
  ])("%s is its bytes", (url, type, text) => {
    expect(read({ kind: "media", id, mediaType: "image/png", url })).toStrictEqual({ type, text });
  });

  test.each(["data:image/png;base64,!", "data:text/plain,%4", "data:"])("%s is refused", (url) => {
    const part: MediaPart = { kind: "media", id, mediaType: "image/png", url };
    expect(() => attachmentOf(part, vendor)).toThrow("its data: URL can't be decoded");
  });
});

describe("text", () => {
  const textIn = (part: FilePart): string | undefined => textOf(attachmentOf(part, vendor));

  test.each([
    ["text/plain", "gr\u00c3\u00bcn", "grün"],
    ["text/plain; charset=ISO-8859-1", "gr\u00fcn", "grün"],
    ["text/plain", "\u00ff\u00fea\u0000", "a"],
    ["application/x-perl", "print 1;\n", "print 1;\n"],
    ["video/mp2t", "const a = 1;", "const a = 1;"],
    ["text/plain", "", ""],
  ])("of type %s is read by its charset, its byte order mark, or as UTF-8", (type, bytes, text) => {
    expect(textIn(file(type, bytes))).toBe(text);
  });

  test.each([
    ["application/zip", "PK\u0003\u0004"],
    ["application/zip", ""],
    ["text/plain", "\u00ff"],
    ["text/plain; charset=nonsense", "a"],
    ["application/octet-stream", "\u0000a"],
  ])("is not what %s with the bytes %j is", (type, bytes) => {
    expect(textIn(file(type, bytes))).toBeUndefined();
  });

  test("in a message has the name of its file", () => {
    const given = attachmentOf(file("text/csv", "a;b", 'a "1".csv'), vendor);
    expect(inlined(given, "a;b")).toBe('<file name="a \\"1\\".csv" type="text/csv">\na;b\n</file>');
  });
});

test("a refusal shows no query of an address, which may hold a key", () => {
  const url = "https://files.example/a.zip?key=secret";
  const given = attachmentOf({ kind: "media", id, mediaType: "image/png", url }, vendor);

  expect(refuse(given, vendor).message).toContain("https://files.example/a.zip");
  expect(refuse(given, vendor).message).not.toContain("secret");
});
