import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { createTerminalText, terminalLine } from "./terminal-text.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";

vi.setConfig({ testTimeout: patience });

/** What a terminal may be sent: no control but line feed and tab, nothing that reorders a line. */
function isHarmless(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x20 && code !== 0x0a && code !== 0x09) return false;
    if (code >= 0x7f && code <= 0x9f) return false;
    if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069)) return false;
    if (code === 0x2028 || code === 0x2029) return false;
  }
  return true;
}

const nasty = fc.constantFrom(
  "\u001b[31m",
  "\u001b[2J",
  "\u001b[1;1H",
  "\u001b]0;title\u0007",
  "\u001b]8;;http://x\u001b\\",
  "\u001b]52;c;AAAA\u0007",
  "\u001bP1$r\u001b\\",
  "\u009b31m",
  "\u009d0;t\u009c",
  "\r",
  "\r\n",
  "\u001b",
  "[",
  "31",
  "m",
  ";",
  "\b\b\b",
  "\u202e",
  "\u2066",
  "\u2028",
  "\u0000",
  "\u007f",
  "\u001bc",
  "é",
  "😀",
  "\n",
  "\t",
  "plain ",
  "\u001b[" + "9".repeat(40),
  "\u001b[?25l",
  "\u001b(0",
  "\u000e",
);
const texts = fc
  .array(
    fc.oneof(nasty, fc.string({ maxLength: 4 }), fc.string({ unit: "binary", maxLength: 3 })),
    { maxLength: 14 },
  )
  .map((pieces) => pieces.join(""));

function inPieces(text: string, cuts: readonly number[]): readonly string[] {
  const places = [
    0,
    ...cuts.map((cut) => cut % (text.length + 1)).toSorted((a, b) => a - b),
    text.length,
  ];
  return places.slice(1).map((end, at) => text.slice(places[at], end));
}

test("whatever comes, in whatever pieces, what is printed is harmless and the same", () => {
  let count = 0;
  fc.assert(
    fc.property(texts, fc.array(fc.nat(200), { maxLength: 8 }), (text, cuts) => {
      const whole = createTerminalText();
      const once = whole.write(text) + whole.end();
      const cut = createTerminalText();
      const pieces = inPieces(text, cuts).map((piece) => cut.write(piece));
      pieces.push(cut.end());

      expect(pieces.every(isHarmless)).toBe(true);
      expect(isHarmless(once)).toBe(true);
      expect(pieces.join("")).toBe(once);
      expect(isHarmless(terminalLine(text, 40))).toBe(true);
      expect(terminalLine(text, 40)).not.toMatch(/[\n\t]/);
      expect(terminalLine(text, 40).length).toBeLessThanOrEqual(40);
      count += 1;
    }),
    { numRuns: runs(10_000, 1_000_000) },
  );
  console.log(`count: ${count} texts`);
});

test("plain text comes through at once and unchanged", () => {
  const plain = fc.string({ unit: "grapheme", maxLength: 40 }).filter((text) => isHarmless(text));
  fc.assert(
    fc.property(fc.array(plain, { maxLength: 6 }), (pieces) => {
      const terminal = createTerminalText();
      for (const piece of pieces) expect(terminal.write(piece)).toBe(piece);
      expect(terminal.end()).toBe("");
    }),
    { numRuns: runs(2_000, 200_000) },
  );
});

test.each([
  ["colours are dropped", "a\u001b[31mred\u001b[0m", "ared"],
  ["a title is shown as text", "\u001b]0;title\u0007x", "␛]0;title␇x"],
  ["a lone carriage return is shown", "yes\rno", "yes␍no"],
  ["a line end of Windows is a line feed", "a\r\nb", "a\nb"],
  ["an eight-bit sequence is shown", "\u009b2J", "\\u009b2J"],
  ["a bidi override is shown", "a\u202eb", "a\\u202eb"],
  ["marks of right-to-left text stay", "\u200f\u05d0", "\u200f\u05d0"],
  ["too long a sequence is no sequence", `\u001b[${"1".repeat(40)}m`, `␛[${"1".repeat(40)}m`],
])("%s", (_, text, shown) => {
  const terminal = createTerminalText();

  expect(terminal.write(text) + terminal.end()).toBe(shown);
});

test("a sequence that never ends holds back no more than its start", () => {
  const terminal = createTerminalText();
  terminal.write("\u001b[");
  let printed = "";
  for (let count = 0; count < 1_000; count += 1) printed += terminal.write("1");

  expect(printed.length).toBeGreaterThan(900);
});
