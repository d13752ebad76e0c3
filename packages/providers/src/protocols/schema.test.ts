import type { Json } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { openaiFormat } from "./output.ts";
import { outputFields } from "./anthropic-messages/output.ts";

const isStrict = (schema: Json): unknown =>
  openaiFormat({ name: "x", schema }, "gpt-5")?.["strict"];
const isTaken = (schema: Json): boolean =>
  outputFields({ name: "x", schema }, {}, "claude-sonnet-5") !== undefined;

const object = (properties: Record<string, Json>, more: object = {}): Json => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});
const text = { type: "string" };
const many = (length: number, value: Json): Record<string, Json> =>
  Object.fromEntries(Array.from({ length }, (_, at) => [`p${at}`, value]));
const nested = (depth: number): Json => (depth === 0 ? text : object({ a: nested(depth - 1) }));

/** A schema, whether OpenAI takes it as strict, and whether Anthropic takes it. */
const schemas: readonly (readonly [name: string, schema: Json, strict: boolean, taken: boolean])[] =
  [
    ["no properties", object({}), true, true],
    ["all types", object({ a: { type: ["string", "null"] }, b: { type: "boolean" } }), true, true],
    ["words about it", object({ a: { ...text, title: "A", description: "a" } }), true, true],
    ["the draft's name", object({ a: text }, { $schema: "http://json-schema.org/x#" }), true, true],
    ["values", object({ a: { enum: ["x", 1, null] }, b: { const: "y" } }), true, true],
    ["a choice", object({ a: { anyOf: [text, object({})] } }), true, true],
    ["a list", object({ a: { type: "array", items: text, minItems: 1 } }), true, true],
    ["a long list", object({ a: { type: "array", items: text, minItems: 2 } }), true, false],
    ["a short list", object({ a: { type: "array", items: text, maxItems: 2 } }), true, false],
    ["a format", object({ a: { ...text, format: "date" } }), true, true],
    ["an address", object({ a: { ...text, format: "uri" } }), false, true],
    ["a format of its own", object({ a: { ...text, format: "zip" } }), false, false],
    ["a pattern", object({ a: { ...text, pattern: "^a$" } }), true, false],
    ["a range", object({ a: { type: "integer", minimum: 1, maximum: 2 } }), true, false],
    ["a length", object({ a: { ...text, maxLength: 9 } }), false, false],
    ["a default", object({ a: { ...text, default: "x" } }), false, true],
    ["all of some", object({ a: { allOf: [text] } }), false, true],
    ["one of some", object({ a: { oneOf: [text] } }), false, false],
    ["a definition", object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: text } }), true, true],
    [
      "a definition that is twice used",
      object(many(3, { $ref: "#/definitions/a" }), { definitions: { a: object({}) } }),
      true,
      true,
    ],
    [
      "a definition beside other words",
      object({ a: { $ref: "#/$defs/a", title: "A" } }, { $defs: { a: text } }),
      false,
      false,
    ],
    ["a definition elsewhere", object({ a: { $ref: "https://a.test/b" } }), false, false],
    [
      "no such definition",
      object({ a: { $ref: "#/$defs/b" } }, { $defs: { a: text } }),
      false,
      false,
    ],
    ["a bad definition that nobody uses", object({}, { $defs: { a: {} } }), false, false],
    ["itself", object({ a: { anyOf: [{ $ref: "#" }, { type: "null" }] } }), true, false],
    [
      "a definition of itself",
      object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: object({ a: { $ref: "#/$defs/a" } }) } }),
      true,
      false,
    ],
    ["an optional property", object({ a: text }, { required: [] }), false, true],
    [
      "an optional property below",
      object({ a: object({ b: text }, { required: [] }) }),
      false,
      true,
    ],
    ["too many optional properties", object(many(11, text), { required: [] }), false, false],
    ["an open object", object({ a: text }, { additionalProperties: true }), false, false],
    ["an open object below", object({ a: { type: "object", properties: {} } }), false, false],
    [
      "an open object in a list",
      object({ a: { type: "array", items: { type: "object" } } }),
      false,
      false,
    ],
    ["an open object in a choice", object({ a: { anyOf: [{ type: "object" }] } }), false, false],
    ["an object without a type", object({ a: { properties: { b: text } } }), false, false],
    ["a required stranger", object({ a: text }, { required: ["a", "b"] }), false, false],
    ["anything", object({ a: {} }), false, false],
    ["true", object({ a: true }), false, false],
    ["a list of anything", object({ a: { type: "array" } }), false, false],
    ["a type that is none", object({ a: { type: "date" } }), false, false],
    ["no type of any", object({ a: { type: [] } }), false, false],
    ["values that are objects", object({ a: { enum: [{}] } }), false, false],
    ["no values", object({ a: { enum: [] } }), false, false],
    ["ten levels", nested(10), true, true],
    ["eleven levels", nested(11), false, false],
    ["5,000 properties", object(many(5_000, text)), true, true],
    ["5,001 properties", object(many(5_001, text)), false, false],
    ["1,001 values", object({ a: { enum: Array.from({ length: 1_001 }, String) } }), false, false],
  ];

describe("a schema with", () => {
  test.each(schemas)("%s", (_, schema, strict, taken) => {
    const before = JSON.stringify(schema);

    expect({ strict: isStrict(schema), taken: isTaken(schema) }).toEqual({ strict, taken });
    expect(JSON.stringify(schema)).toBe(before);
  });

  test("definitions that double at each step is read in no time", () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `d${at}`,
        at === 0
          ? text
          : object({ a: { $ref: `#/$defs/d${at - 1}` }, b: { $ref: `#/$defs/d${at - 1}` } }),
      ]),
    );

    expect(isTaken(object({ a: { $ref: "#/$defs/d59" } }, { $defs }))).toBe(true);
  });
});
