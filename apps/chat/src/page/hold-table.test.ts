import { expect, it } from "vitest";
import { holdTable } from "./hold-table.ts";

const table = "| a | b |\n| --- | ---: |\n| 1 | 2 |";

it("the beginning of a table is held back until its second row is whole", () => {
  const before = "Look:\n\n";
  const whole = table.indexOf("\n", table.indexOf("\n") + 1) + 1;
  for (let length = 1; length < whole; length += 1)
    expect(holdTable(before + table.slice(0, length))).toBe(before);
  for (let length = whole; length <= table.length; length += 1)
    expect(holdTable(before + table.slice(0, length))).toBe(before + table.slice(0, length));
});

it("all other text is shown as it comes, also a bar inside code", () => {
  const texts = ["", "plain", "a | b", "one\n\ntwo", "```\n\n| a", `~~~sh\necho\n\n| wc`];
  for (const text of texts) expect(holdTable(text)).toBe(text);
  expect(holdTable("```\nx\n```\n\n| a")).toBe("```\nx\n```\n\n");
});
