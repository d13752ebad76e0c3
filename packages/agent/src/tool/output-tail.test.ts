import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { capText, createTail } from "./output-tail.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 120_000 });

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const note = /\n… (\d+) bytes left out …\n/;

describe("text with a cap", () => {
  it.each<[string, string, number, string]>([
    ["below the cap", "abcdefg", 8, "abcdefg"],
    ["at the cap", "abcdefgh", 8, "abcdefgh"],
    ["one above the cap", "abcdefghi", 8, "abcd\n… 1 bytes left out …\nfghi"],
    ["one above an odd cap", "abcdefgh", 7, "abc\n… 1 bytes left out …\nefgh"],
    ["at the cap in bytes", "éééé", 8, "éééé"],
    ["one above the cap in bytes", "ééééa", 8, "éé\n… 2 bytes left out …\néa"],
    ["at the cap with a character on the cut", "aaa😀b", 8, "aaa😀b"],
    ["at the cap with a character that leaves the head short", "a😀bbb", 8, "a😀bbb"],
    ["with a character on both cuts", "aaa😀😀bbb", 8, "aaa\n… 8 bytes left out …\nbbb"],
    ["with a cap of nothing", "abc", 0, "\n… 3 bytes left out …\n"],
    ["empty, with a cap of nothing", "", 0, ""],
  ])("%s", (_, text, limit, expected) => {
    expect(capText(text, limit)).toBe(expected);
  });

  it("is unchanged up to the cap; beyond, it is both ends and the true number between them", () => {
    const times = runs(50_000, 5_000_000);
    const unit = fc.constantFrom("a", "b", "\n", "é", "€", "😀");

    fc.assert(
      fc.property(fc.string({ unit, maxLength: 40 }), fc.nat(60), (text, limit) => {
        const capped = capText(text, limit);
        if (bytesOf(text) <= limit) return capped === text;
        const [whole = "", omitted] = note.exec(capped) ?? [];
        const [head = "", tail = ""] = capped.split(whole);
        const half = Math.floor(limit / 2);
        return (
          capped.isWellFormed() &&
          text.startsWith(head) &&
          text.endsWith(tail) &&
          bytesOf(head) <= half &&
          bytesOf(head) > half - 4 &&
          bytesOf(tail) <= limit - half &&
          bytesOf(tail) > limit - half - 4 &&
          bytesOf(head) + bytesOf(tail) + Number(omitted) === bytesOf(text)
        );
      }),
      { numRuns: times },
    );

    console.log(`count: capped texts, ${times}, 0 failures`);
  });
});

describe("a tail", () => {
  it("gives the same, however the text is cut into pieces", () => {
    const times = runs(50_000, 5_000_000);
    const unit = fc.constantFrom("a", "\n", "é", "€", "😀");
    const piece = fc.string({ unit, maxLength: 12 });

    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), fc.nat(40), (pieces, limit) => {
        const half = Math.floor(limit / 2);
        const tail = createTail(half, limit - half);
        const live = pieces.map((text) => tail.push(text)).join("");
        expect(bytesOf(live)).toBeLessThanOrEqual(half);
        return live + tail.end() === capText(pieces.join(""), limit);
      }),
      { numRuns: times },
    );

    console.log(`count: tails, ${times} streams, 0 failures`);
  });

  it("K08: holds hundreds of megabytes in bounded memory, and counts each byte", () => {
    const size = Math.max(2 ** 24, runs(2 ** 28, 2 ** 30));
    const half = 256 * 1024;
    const tail = createTail(half, half);
    const piece = "0123456789abcde\n".repeat(4_096);
    const before = process.memoryUsage().heapUsed;
    let live = 0;
    let peak = 0;

    const started = process.cpuUsage();
    for (let written = 0; written < size; written += piece.length) {
      live += tail.push(piece).length;
      if (written % (piece.length * 256) === 0)
        peak = Math.max(peak, process.memoryUsage().heapUsed - before);
    }
    const end = tail.end();
    const seconds = process.cpuUsage(started).user / 1e6;

    expect(live).toBe(half);
    expect(end).toMatch(new RegExp(`^\n… ${size - 2 * half} bytes left out …\n`));
    expect(end.endsWith("abcde\n")).toBe(true);
    expect(peak).toBeLessThan(256 * 1024 * 1024);
    console.log(
      `count: K08, ${size} bytes, peak ${Math.round(peak / 2 ** 20)} MiB, ${seconds.toFixed(1)} s`,
    );
  });

  it("K08: takes a million pieces of one character", () => {
    const tail = createTail(1_000, 1_000);

    let live = "";
    for (let at = 0; at < 1_000_000; at += 1) live += tail.push("x");

    expect(live).toBe("x".repeat(1_000));
    expect(tail.end()).toBe(`\n… 998000 bytes left out …\n${"x".repeat(1_000)}`);
  });
});
