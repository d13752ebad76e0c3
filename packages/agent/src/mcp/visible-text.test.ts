import { expect, test } from "vitest";

import { cappedText, oneLine, visibleText } from "./visible-text.ts";

test.for([
  "plain text, with a tab\tand a\nnewline",
  "Grüße, Привет, 你好, שלום, مرحبا",
  "family \u{1F468}\u200D\u{1F469}\u200D\u{1F467}, heart \u2764\uFE0F, flag \u{1F3F3}\uFE0F\u200D\u{1F308}, thumb \u{1F44D}\u{1F3FD}",
  "Persian \u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645",
  "Hindi \u0915\u094D\u200D\u0937",
])("%j shows all it has and stays as it is", (text) => {
  expect(visibleText(text)).toBe(text);
});

test.for([
  ["tags", "a\u{E0041}\u{E0042}b", "a[2 hidden characters left out]b"],
  ["a right-to-left override", "\u202Eabc", "[1 hidden character left out]abc"],
  ["a zero-width space", "a\u200Bb", "a[1 hidden character left out]b"],
  ["a joiner between Latin letters", "a\u200Db", "a[1 hidden character left out]b"],
  ["a row of selectors", "\u2764\uFE0F\uFE0F\uFE01", "\u2764[3 hidden characters left out]"],
  ["supplementary selectors", "x\u{E0101}\u{E0102}", "x[2 hidden characters left out]"],
  ["a colour of the terminal", "\u001B[31mred", "[1 hidden character left out][31mred"],
  ["a filler", "a\u3164b", "a[1 hidden character left out]b"],
  ["private use", "a\uE000", "a[1 hidden character left out]"],
  ["a NUL", "a\u0000", "a[1 hidden character left out]"],
  ["carriage returns", "safe\rrm -rf\r\nend", "safe\nrm -rf\nend"],
  ["line separators", "a\u2028b\u0085c", "a\nb\nc"],
  ["half a surrogate pair", "a\uD800b", "a\uFFFDb"],
] as const)("%s are taken out or made plain", ([, text, visible]) => {
  expect(visibleText(text)).toBe(visible);
});

test("a text at its cap is whole, and one byte more is cut with a note", () => {
  expect(cappedText("abc", 3)).toBe("abc");
  expect(cappedText("abcd", 3)).toBe("abc\n[1 bytes left out]");
  expect(cappedText("a\u{1F600}", 5)).toBe("a\u{1F600}");
  expect(cappedText("a\u{1F600}", 4)).toBe("a\n[4 bytes left out]");
  expect(cappedText("", 0)).toBe("");
});

test("text inside a sentence is on one line and short", () => {
  expect(oneLine(" two\n lines\r\n", 20)).toBe("two lines");
  expect(oneLine("x".repeat(1_000_000), 5)).toMatch(/^x{5} \[\d+ bytes left out\]$/);
});
