import { expect, it } from "vitest";
import { exceedsMarkdownLimit } from "./markdown-limit.ts";

it("texts that are too long or too deep are found in linear time, and ordinary ones are not", () => {
  const hostile = [
    "> ".repeat(20_000),
    "- ".repeat(20_000),
    "[".repeat(20_000),
    "a".repeat(300_000),
  ];
  const plain = [
    "# Title\n\n> a quote\n> > inside\n\n- a\n  - b\n",
    "-".repeat(80),
    "| - ".repeat(90),
  ];
  const spaces = `${" ".repeat(100_000)}x`;
  const begun = performance.now();
  for (const text of hostile) expect(exceedsMarkdownLimit(text)).toBe(true);
  for (const text of [...plain, spaces]) expect(exceedsMarkdownLimit(text)).toBe(false);
  expect(performance.now() - begun).toBeLessThan(1_000); // a pattern that tries again would take hours
});
