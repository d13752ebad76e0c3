import { expect, test } from "vitest";
import { Excerpt } from "./excerpt.ts";

const limit = 16 * 1024;

test("an excerpt is the first bytes, however they are cut", () => {
  const bytes = new TextEncoder().encode("é".repeat(limit));
  const excerpt = new Excerpt();
  let more = 0;

  for (let at = 0; at < bytes.length; at += 1)
    if (excerpt.add(bytes.subarray(at, at + 1))) more += 1;

  expect(excerpt.text()).toBe("é".repeat(limit / 2));
  expect(more).toBe(limit - 1);
});

test("an excerpt keeps what it was given, though the bytes are used again", () => {
  const bytes = new TextEncoder().encode("ab");
  const excerpt = new Excerpt();

  expect(excerpt.add(bytes)).toBe(true);
  bytes.fill(0);
  expect(excerpt.add(new Uint8Array(limit).fill(0x63))).toBe(false);

  expect(excerpt.text()).toBe(`ab${"c".repeat(limit - 2)}`);
});
