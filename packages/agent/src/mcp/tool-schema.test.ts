import { expect, test } from "vitest";

import { readSchema } from "./tool-schema.ts";
import type { ReadSchema } from "./tool-schema.ts";

function checkedOf(read: ReadSchema): unknown {
  return read.ok ? read.checked : read.reason;
}

test("an ordinary schema is shown and checked as it is", () => {
  const schema = {
    type: "object",
    properties: {
      description: { type: "string", description: "What it is about" },
      pattern: { type: "string" },
      uniqueItems: { $ref: "#/$defs/flag" },
    },
    required: ["pattern"],
    additionalProperties: false,
    $defs: { flag: { type: "boolean" } },
  };

  expect(readSchema(schema)).toEqual({ ok: true, shown: schema, checked: schema });
});

test("descriptions are made readable and cut, names and values are not", () => {
  const read = readSchema({
    type: "object",
    title: "A\u200B",
    properties: { a: { description: "x".repeat(3_000), const: "title" } },
  });

  expect(read).toMatchObject({
    shown: {
      title: "A[1 hidden character left out]",
      properties: { a: { description: `${"x".repeat(2_048)}\n[952 bytes left out]` } },
    },
  });
});

test.for([
  ["a value", { const: "a\u200B" }],
  ["a value in a description's place", { default: { description: "a\u200B" } }],
  ["a name", { properties: { "a\u202E": {} } }],
  ["a pattern", { pattern: "\u200B" }],
])("hidden characters in %s refuse the schema", ([, part]) => {
  const read = readSchema({ type: "object", properties: { a: part as object } });

  expect(checkedOf(read)).toContain("hidden characters");
});

test("patterns and uniqueness are shown and not checked, and what depends on them falls with them", () => {
  const a = { type: "array", uniqueItems: true, items: { pattern: "^(x+)+$", maxLength: 9 } };
  const read = readSchema({
    type: "object",
    properties: { a },
    patternProperties: { "^x": {} },
    additionalProperties: false,
  });

  expect(read).toMatchObject({ shown: { properties: { a }, additionalProperties: false } });
  expect(checkedOf(read)).toEqual({
    type: "object",
    properties: { a: { type: "array", items: { maxLength: 9 } } },
  });
});

test.for([
  ["refers to itself", { a: { $ref: "#" } }, {}],
  ["refers in a circle", { a: { $ref: "#/$defs/b" } }, { b: { items: { $ref: "#/$defs/b" } } }],
  ["uses an anchor", { a: { $ref: "#here" } }, { b: { $anchor: "here" } }],
] as const)("of a schema that %s only the object is checked", ([, properties, $defs]) => {
  const read = readSchema({ type: "object", properties, $defs });

  expect(checkedOf(read)).toEqual({ type: "object" });
});

test("a schema that doubles with each reference is only checked while it is small", () => {
  const doubling = (depth: number): object => ({
    type: "object",
    properties: { a: { $ref: "#/$defs/d0" } },
    $defs: Object.fromEntries(
      Array.from({ length: depth }, (_, index) => {
        const next = { $ref: `#/$defs/d${index + 1}` };
        return [`d${index}`, index === depth - 1 ? {} : { anyOf: [next, next] }];
      }),
    ),
  });

  expect(checkedOf(readSchema(doubling(5)))).toEqual(doubling(5));
  expect(checkedOf(readSchema(doubling(30)))).toEqual({ type: "object" });
});

test("a long chain of references is read without running out of stack", () => {
  const $defs = Object.fromEntries(
    Array.from({ length: 900 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }]),
  );

  const read = readSchema({
    type: "object",
    properties: { a: { $ref: "#/$defs/d0" } },
    $defs: { ...$defs, d900: {} },
  });

  expect(checkedOf(read)).toEqual({ type: "object" });
});

test.for([
  ["points nowhere", "#/$defs/none"],
  ["points outside", "https://example.com/schema"],
  ["points to a file", "file:///etc/passwd"],
])("a reference that %s refuses the schema", ([, $ref]) => {
  const read = readSchema({ type: "object", properties: { a: { $ref } } });

  expect(checkedOf(read)).toBe("it refers to what is not in it");
});

test.for([undefined, null, [], "object", 7, {}, { type: "string" }, { type: ["object"] }])(
  "%j is no schema of an object",
  (schema) => {
    expect(readSchema(schema).ok).toBe(false);
  },
);
