import { expect, it } from "vitest";
import { highlight } from "./highlight.ts";

it("words, strings, numbers and comments are told apart, and join to the same text", () => {
  const code = `const a = "x // y"; // 12\nif (b === 0x1f) return 'it\\'s';\n`;
  const tokens = highlight(code);
  expect(tokens.map(({ text }) => text).join("")).toBe(code);
  const of = (kind: string): readonly string[] =>
    tokens.filter((token) => token.kind === kind).map(({ text }) => text);
  expect(of("word")).toEqual(["const", "if", "return"]);
  expect(of("string")).toEqual([`"x // y"`, String.raw`'it\'s'`]);
  expect(of("number")).toEqual(["0x1f"]);
  expect(of("comment")).toEqual(["// 12"]);
});

it("code that is not whole yet, and code that is too long, is still all there", () => {
  for (const code of ['let a = "half', "/* open", "x".repeat(100_000)])
    expect(
      highlight(code)
        .map(({ text }) => text)
        .join(""),
    ).toBe(code);
});
