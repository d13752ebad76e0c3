import { expect, test } from "vitest";
import { z } from "zod";
import { fromJsonSchema } from "./json-schema.ts";
import { answerSchemaOf } from "@millrace/core/schema";

const name = { type: "string" };
const number = z.string().transform(Number).pipe(z.number());

test("an answer is told as a closed object where its schema strips what it does not know", () => {
  const schema = z.object({ name: z.string(), list: z.array(z.object({ name: z.string() })) });

  const inner = { type: "object", properties: { name }, required: ["name"] };
  expect(answerSchemaOf(schema)).toEqual({
    type: "object",
    properties: {
      name,
      list: { type: "array", items: { ...inner, additionalProperties: false } },
    },
    required: ["name", "list"],
    additionalProperties: false,
  });
});

test.each([
  ["a loose object", z.looseObject({ name: z.string() }), { additionalProperties: {} }],
  [
    "a default",
    z.object({ name: z.string().default("x") }),
    { properties: { name: { default: "x" } } },
  ],
  ["a transformation", z.object({ name: z.string().transform(Number) }), { required: ["name"] }],
  [
    "a map of transformations",
    z.object({ name: z.string(), map: z.record(z.string(), number) }),
    { properties: { map: { additionalProperties: { type: "string" } } } },
  ],
])("an answer with %s is told as it goes in", (_, schema, expected) => {
  const told = answerSchemaOf(schema);

  expect(told).toMatchObject({ type: "object", properties: { name: { type: "string" } } });
  expect(told).toMatchObject(expected);
  expect(told).not.toHaveProperty("additionalProperties", false);
});

test("a schema that was given as JSON is told as it was given", () => {
  const given = { type: "object", properties: { n: { type: "integer", minimum: 1 } } };
  expect(answerSchemaOf(fromJsonSchema(given))).toEqual(given);
});

test("of an integer's bounds those are told that its author set", () => {
  const schema = z.object({ free: z.int(), set: z.int().min(0) });
  expect(answerSchemaOf(schema)).toMatchObject({
    properties: { free: { type: "integer" }, set: { type: "integer", minimum: 0 } },
  });
  expect(JSON.stringify(answerSchemaOf(schema))).not.toContain("9007199254740991");
});
