import fc from "fast-check";
import { expect, test } from "vitest";

import { OutputBuffer } from "./output-buffer.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { Utf8Reader } from "./utf8.ts";

const times = runs(2_000, 200_000);

/** Text, noise, and text with noise in it, as bytes. */
const someBytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text)),
      fc.uint8Array({ maxLength: 6 }),
      fc.constantFrom("€", "😀", "\uFEFF", "\uFFFD").map((text) => new TextEncoder().encode(text)),
    ),
    { maxLength: 12 },
  )
  .map((parts) => Buffer.concat(parts));

const cut = fc.tuple(someBytes, fc.array(fc.nat(), { maxLength: 12 })).map(([bytes, places]) => {
  const at = places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b);
  const edges = [0, ...at, bytes.length];
  return { bytes, pieces: edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge)) };
});

test("text read in pieces is the text read at once, and lossy exactly if bytes were no text", () => {
  fc.assert(
    fc.property(cut, ({ bytes, pieces }) => {
      const reader = new Utf8Reader();

      const text = pieces.map((piece) => reader.read(piece)).join("") + reader.end();

      expect(text).toBe(decode(bytes));
      expect(reader.lossy).toBe(!Buffer.from(decode(bytes)).equals(bytes));
    }),
    { numRuns: times },
  );
  console.log(`count: output decoded in pieces, ${times} texts, 0 failures`);
});

test("head, omitted bytes and tail make up the whole, within the cap", () => {
  fc.assert(
    fc.property(cut, fc.integer({ min: 0, max: 40 }), ({ bytes, pieces }, limit) => {
      const keeper = new OutputBuffer(limit);

      for (const piece of pieces) keeper.write(piece);
      keeper.end();
      const { head, tail, omittedBytes, lossy, bytes: count } = keeper.kept();

      expect(count).toBe(bytes.length);
      if (omittedBytes === 0) {
        expect(head + tail).toBe(decode(bytes));
        return;
      }
      expect(bytes.length).toBeGreaterThan(Math.floor(limit / 2) * 2);
      if (lossy) return;
      const [first, last] = [Buffer.from(head), Buffer.from(tail)];
      expect(first.length + last.length + omittedBytes).toBe(bytes.length);
      expect(first.length + last.length).toBeLessThanOrEqual(limit);
      // At most one character of four bytes is lost at each cut.
      expect(first.length + last.length).toBeGreaterThan(Math.floor(limit / 2) * 2 - 7);
      expect(bytes.subarray(0, first.length).equals(first)).toBe(true);
      expect(bytes.subarray(bytes.length - last.length).equals(last)).toBe(true);
    }),
    { numRuns: times },
  );
  console.log(`count: output caps, ${times} outputs, 0 failures`);
});

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
