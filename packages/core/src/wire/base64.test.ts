import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(20_000, 1_000_000);

describe("base64", () => {
  it("bytes of every length up to 300 are written as Node writes them, and come back", () => {
    for (let length = 0; length <= 300; length += 1) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 197 + length * 31) % 256);

      const text = encodeBase64(bytes);

      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(decodeBase64(text)).toStrictEqual(bytes);
    }
  });

  it.each([6_143, 6_144, 6_145, 12_287, 12_288, 12_289, 100_000])(
    "%i bytes are written as Node writes them, and come back",
    (length) => {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 197 + (at >> 8)) % 256);

      const text = encodeBase64(bytes);

      expect(text).toBe(Buffer.from(bytes).toString("base64"));
      expect(Buffer.compare(decodeBase64(text) ?? new Uint8Array(), bytes)).toBe(0);
    },
  );

  it("random bytes are written as Node writes them, and come back", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300, size: "max" }), (bytes) => {
        const text = encodeBase64(bytes);
        if (text !== Buffer.from(bytes).toString("base64")) throw new Error("another text");
        const back = decodeBase64(text);
        if (back === undefined || Buffer.compare(back, bytes) !== 0) throw new Error("other bytes");
      }),
      { numRuns: times },
    );
    console.log(`count: base64 against Node, ${times} byte strings, 0 failures`);
  });

  it("each three bytes have one text, and each text of four letters has its bytes or none", () => {
    const letters = "Aa0+/=9-_ \n";
    let accepted = 0;
    for (const a of letters)
      for (const b of letters)
        for (const c of letters)
          for (const d of letters) {
            const text = a + b + c + d;
            const canonical = Buffer.from(text, "base64").toString("base64") === text;

            const bytes = decodeBase64(text);

            expect(bytes !== undefined, JSON.stringify(text)).toBe(canonical);
            if (bytes !== undefined) accepted += 1;
          }
    expect(accepted).toBeGreaterThan(100);
  });

  it("a text is accepted exactly when it is the one that its bytes are written as", () => {
    const letter = fc.constantFrom(..."ABCDwxyz0189+/==-_\n ".split(""));
    fc.assert(
      fc.property(fc.string({ unit: letter, maxLength: 9 }), (text) => {
        const canonical = Buffer.from(text, "base64").toString("base64") === text;
        return (decodeBase64(text) !== undefined) === canonical;
      }),
      { numRuns: times },
    );
    console.log(`count: base64 is canonical, ${times} texts, 0 failures`);
  });

  it.each([
    "A",
    "AA",
    "AAA",
    "AA=",
    "=",
    "====",
    "A===",
    "AA==AA==",
    "AB==",
    "AAB=",
    "AA-_",
    "AAA\u0141",
  ])("%j is refused", (text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  it("a view into a larger buffer is written as what it shows", () => {
    const view = new Uint8Array([9, 1, 2, 3, 9]).subarray(1, 4);

    expect(encodeBase64(view)).toBe("AQID");
  });
});
