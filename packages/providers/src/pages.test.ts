import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), "utf8");

test("the page for requests that fail has every code of a failure", () => {
  const source = read("./failure.ts");
  const begin = source.indexOf("export type FailureCode");
  const union = source.slice(begin, source.indexOf(";\n", begin));
  const codes = [...union.matchAll(/\| "(\w+)"/g)].map(([, code = ""]) => code);
  const page = read("../../../docs/providers/troubleshooting.md");

  expect(codes.length).toBeGreaterThan(30);
  expect(codes.filter((code) => !page.includes(`\`${code}\``))).toEqual([]);
});
