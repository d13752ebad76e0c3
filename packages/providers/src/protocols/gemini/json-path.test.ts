import { expect, test } from "vitest";
import { parsePath } from "./json-path.ts";

test.each<readonly [string, readonly (string | number)[]]>([
  ["$.a", ["a"]],
  ["$.a.b_c", ["a", "b_c"]],
  ["$.a[0].b", ["a", 0, "b"]],
  ["$.a[12][3]", ["a", 12, 3]],
  ["$.my-key.日本", ["my-key", "日本"]],
  ["$['a b'].c", ["a b", "c"]],
  ['$["a.b"][0]', ["a.b", 0]],
  [String.raw`$['it\'s']`, ["it's"]],
  [String.raw`$['a\\b']`, ["a\\b"]],
  [String.raw`$["\u00e9\n"]`, ["é\n"]],
  ["$['']", [""]],
  ["$['[0]']", ["[0]"]],
])("%s names a place", (text, segments) => {
  expect(parsePath(text)).toEqual({ segments, list: false });
});

test("a path that ends in [] names a list", () => {
  expect(parsePath("$.a[0].rows[]")).toEqual({ segments: ["a", 0, "rows"], list: true });
});

test.each([
  "",
  "$",
  "a",
  ".a",
  "$a",
  "$.",
  "$..a",
  "$.a[",
  "$.a[]b",
  "$.a[].b",
  "$[]",
  "$.a[-1]",
  "$.a[x]",
  "$.a['b]",
  "$.a[1234567890]",
  "$.a[*]",
])("%o names none", (text) => {
  expect(parsePath(text)).toBeUndefined();
});
