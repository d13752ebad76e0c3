import { partId } from "@millrace/core/writing";
import type { FilePart, MediaPart } from "@millrace/core";
import { expect, test } from "vitest";
import { RequestRefusal } from "../refusal.ts";
import { mediaPart } from "./media.ts";

const id = partId("p1");
const bytes = new Uint8Array([1, 2, 3]);

test.each([
  ["image/png", "image/png"],
  ["image/JPG", "image/jpeg"],
  ["image/webp", "image/webp"],
  ["application/pdf", "application/pdf"],
  ["audio/wav", "audio/wav"],
  ["video/mp4", "video/mp4"],
  ["text/markdown; charset=utf-8", "text/plain"],
])("media of type %s go as %s", (mediaType, mimeType) => {
  const file = { kind: "file", id, name: "a", mediaType } as const;
  const fileUri = "https://example.org/a";

  expect(mediaPart({ ...file, bytes })).toEqual({ inlineData: { mimeType, data: "AQID" } });
  expect(mediaPart({ ...file, url: fileUri })).toEqual({ fileData: { mimeType, fileUri } });
});

test.each<readonly [string, MediaPart | FilePart]>([
  ["image/gif", { kind: "media", id, mediaType: "image/gif", bytes }],
  ["audio/L16", { kind: "media", id, mediaType: "audio/L16", bytes }],
  ["a.zip", { kind: "file", id, name: "a.zip", mediaType: "application/zip", bytes }],
  ["0 bytes", { kind: "media", id, mediaType: "image/png", bytes: new Uint8Array() }],
  ["blob:x", { kind: "media", id, mediaType: "image/png", url: "blob:x" }],
  ["data: URL", { kind: "media", id, mediaType: "image/png", url: "data:image/png;base64,A" }],
])("%s is refused, because the vendor does not read it", (words, part) => {
  expect(() => mediaPart(part)).toThrow(RequestRefusal);
  expect(() => mediaPart(part)).toThrow(words);
});

test("media in an address that holds them go as bytes", () => {
  const url = "data:image/png;base64,AQID";

  expect(mediaPart({ kind: "media", id, mediaType: "image/png", url })).toEqual({
    inlineData: { mimeType: "image/png", data: "AQID" },
  });
});
