import { parseJson } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { runs } from "../../../../../tests/kit/runs.ts";
import { addArgument, endOf, noArguments } from "./partial-arguments.ts";

/** The text of arguments, or the error. */
function textOf(partial: readonly Json[]): string {
  let state = noArguments;
  let text = "";
  for (const argument of partial) {
    const added = addArgument(state, argument);
    if (!added.ok) return added.message;
    state = added.next;
    text += added.text;
  }
  return text + (endOf(state) ?? " and never ends");
}

const at = (jsonPath: string, numberValue: number): JsonObject => ({ jsonPath, numberValue });

test.each<readonly [string, readonly JsonObject[], string]>([
  ["nothing", [], ""],
  ["one value", [at("$.a", 1)], '{"a":1}'],
  ["a value behind an object", [at("$.a.b", 1), at("$.c", 2)], '{"a":{"b":1},"c":2}'],
  ["two levels left at once", [at("$.a[0].b", 1), at("$.c", 2)], '{"a":[{"b":1}],"c":2}'],
  ["rows of rows", [at("$.a[0][0]", 1), at("$.a[1][0]", 2)], '{"a":[[1],[2]]}'],
  [
    "a list that ends twice",
    [at("$.a[0]", 1), { jsonPath: "$.a[]" }, at("$.b", 2)],
    '{"a":[1],"b":2}',
  ],
  ["rows without numbers", [at("$.a[]", 1), at("$.a[]", 2)], '{"a":[1,2]}'],
  ["a list of nothing in a list", [{ jsonPath: "$.a[0][]" }, at("$.a[1][0]", 2)], '{"a":[[],[2]]}'],
  ["a key that needs escapes", [at("$['\"']", 1)], '{"\\"":1}'],
  ["null as a word", [{ jsonPath: "$.a", nullValue: "NULL_VALUE" }], '{"a":null}'],
  ["null as null", [{ jsonPath: "$.a", nullValue: null }], '{"a":null}'],
  ["false", [{ jsonPath: "$.a", boolValue: false }], '{"a":false}'],
  [
    "a string without an end",
    [{ jsonPath: "$.a", stringValue: "b", willContinue: true }],
    '{"a":"b and never ends',
  ],
  [
    "an end without a value",
    [{ jsonPath: "$.a", stringValue: "b", willContinue: true }, { jsonPath: "$.a" }],
    '{"a":"b"}',
  ],
])("%s is written", (_, partial, text) => {
  expect(textOf(partial)).toBe(text);
});

test.each<readonly [string, readonly Json[], RegExp]>([
  ["no object", ["a"], /no object/],
  ["no path", [{ numberValue: 1 }], /no path/],
  ["a bad path", [at("a", 1)], /no path of an argument/],
  ["no value", [{ jsonPath: "$.a" }], /no value/],
  ["a number that is none", [{ jsonPath: "$.a", numberValue: "NaN" }], /no value/],
  ["arguments that are a list", [at("$[0]", 1)], /not a list/],
  ["a list that begins with its second row", [at("$.a[1]", 1)], /not the next row/],
  ["a row that is left out", [at("$.a[0]", 1), at("$.a[2]", 1)], /not the next row/],
  [
    "a row that came before",
    [at("$.a[0].b", 1), at("$.a[1].b", 1), at("$.a[0].c", 1)],
    /not the next row/,
  ],
  ["a row of an object", [at("$.a.b", 1), at("$.a[0]", 1)], /an object and a list/],
  ["a key of a list", [at("$.a[0]", 1), at("$.a.b", 1)], /an object and a list/],
  [
    "another path inside a string",
    [{ jsonPath: "$.a", stringValue: "b", willContinue: true }, at("$.c", 1)],
    /never ended/,
  ],
  [
    "a number inside a string",
    [
      { jsonPath: "$.a", stringValue: "b", willContinue: true },
      { jsonPath: "$.a", stringValue: 5 },
    ],
    /something else/,
  ],
  ["a path without end", [at(`$${".a".repeat(65)}`, 1)], /no path of an argument/],
])("%s is refused", (_, partial, message) => {
  expect(textOf(partial)).toMatch(message);
});

const leaf = fc.oneof(
  fc.string({ unit: "binary" }),
  // The argument parser refuses integers beyond 2^53.
  fc
    .double({ noNaN: true, min: -(2 ** 53) + 1, max: 2 ** 53 - 1 })
    .map((number) => (number === 0 ? 0 : number)),
  fc.boolean(),
  fc.constant(null),
);
const keys = fc.string({ unit: "binary", maxLength: 4 }).filter((key) => !key.includes("proto"));
const tree = fc.letrec<{ value: Json; record: JsonObject }>((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, leaf, tie("record"), fc.array(tie("value"), { maxLength: 3 })),
  // The vendor can't express an object without keys, except as the arguments themselves.
  record: fc.dictionary(keys, tie("value"), { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
}));

/**
 * A value as the vendor streams it: its leaves in order, strings in pieces, lists with an end or
 * not.
 */
function streamed(value: Json, path: string, cut: () => number): readonly JsonObject[] {
  if (Array.isArray(value)) {
    const rows = value.flatMap((row: Json, index) => streamed(row, `${path}[${index}]`, cut));
    return value.length === 0 || cut() === 0 ? [...rows, { jsonPath: `${path}[]` }] : rows;
  }
  if (typeof value === "object" && value !== null) {
    return Object.entries(value).flatMap(([key, inner]: [string, Json]) =>
      streamed(inner, `${path}${segment(key)}`, cut),
    );
  }
  const jsonPath = path;
  if (value === null) return [{ jsonPath, nullValue: "NULL_VALUE" }];
  if (typeof value === "boolean") return [{ jsonPath, boolValue: value }];
  if (typeof value === "number") return [{ jsonPath, numberValue: value }];
  const place = Math.min(cut(), value.length);
  if (place === 0) return [{ jsonPath, stringValue: value }];
  return [
    { jsonPath, stringValue: value.slice(0, place), willContinue: true },
    { jsonPath, stringValue: value.slice(place), willContinue: true },
    { jsonPath, stringValue: "" },
  ];
}

function segment(key: string): string {
  return /^[a-z]+$/.test(key) ? `.${key}` : `["${JSON.stringify(key).slice(1, -1)}"]`;
}

/** A campaign takes minutes. */
const timeout = 60_000 * runs(1, 60);

test("whatever is streamed is the value of the text", { timeout }, () => {
  let count = 0;
  fc.assert(
    fc.property(tree.record, fc.infiniteStream(fc.nat({ max: 3 })), (record, cuts) => {
      const text = textOf(streamed(record, "$", () => cuts.next().value as number));

      expect(parseJson(text)).toEqual({ ok: true, value: record });
      count += 1;
    }),
    { numRuns: runs(2_000, 200_000) },
  );
  console.log(`count: streamed arguments are written as they are, ${count} arguments, 0 failures`);
});
