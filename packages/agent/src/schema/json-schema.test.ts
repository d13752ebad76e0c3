import type { JsonObject } from "@millrace/core";
import { describe, expect, it } from "vitest";
import { defineTool } from "../definition/tool.ts";
import { fromJsonSchema } from "./json-schema.ts";
import type { JsonSchemaOptions } from "./json-schema.ts";
import { describeIssues, jsonSchemaOf } from "@millrace/core/schema";

const person: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: {
    name: { type: "string" },
    tags: { type: "array", items: { type: "string" } },
    role: { enum: ["admin", "guest"] },
    "a/b~c": { type: "number" },
  },
  required: ["name"],
  additionalProperties: false,
};

/** The issues as a model is told them; empty for a value that is accepted as it is. */
async function told(
  schema: JsonObject,
  value: unknown,
  options?: JsonSchemaOptions,
): Promise<string> {
  const checked = await fromJsonSchema(schema, options)["~standard"].validate(value);
  if (checked.issues !== undefined) return describeIssues(checked.issues);
  expect(checked.value).toBe(value);
  return "";
}

function refusalOf(schema: unknown): unknown {
  try {
    fromJsonSchema(schema as JsonObject);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("a JSON Schema", () => {
  it("accepts what fits, and leaves it as it is", async () => {
    expect(await told(person, { name: "a", tags: ["x"], role: "guest" })).toBe("");
    expect(await told({ properties: { a: { default: 5 } } }, {})).toBe("");
  });

  it("K03: names each field that is missing, too much or wrong", async () => {
    const issues = await told(person, { tags: ["x", 1], role: "root", "a/b~c": "x", more: 1 });

    expect(issues.split("\n").toSorted()).toStrictEqual([
      "a/b~c: must be number",
      "more: must NOT have additional properties",
      "name: must have required property 'name'",
      'role: must be equal to one of the allowed values: ["admin","guest"]',
      "tags.1: must be string",
    ]);
  });

  it("does not turn a string into a number to make it fit", async () => {
    expect(await told({ properties: { n: { type: "number" } } }, { n: "5" })).not.toBe("");
  });

  it.each(["constructor", "toString", "__proto__"])(
    "does not take an inherited %s for a field",
    async (name) => {
      expect(await told({ type: "object", required: [name] }, {})).not.toBe("");
    },
  );

  it.each([[[]], ["text"], [null], [undefined], [5]])(
    "of anything accepts no %j, since a tool takes an object",
    async (value) => {
      expect(await told({}, value)).not.toBe("");
    },
  );

  it("looks at a format only where its check is given", async () => {
    const schema = { properties: { at: { type: "string", format: "date" } } };
    const formats = { date: /^\d{4}-\d\d-\d\d$/ };

    expect(await told(schema, { at: "soon" })).toBe("");
    expect(await told(schema, { at: "soon" }, { formats })).toContain("at: ");
    expect(await told(schema, { at: "2026-01-01" }, { formats })).toBe("");
    expect(await told({ properties: { at: { format: "other" } } }, { at: "x" }, { formats })).toBe(
      "",
    );
  });

  it("tells one mistake of a value so large that it could have a million", async () => {
    const schema = { properties: { list: { type: "array", items: { type: "string" } } } };
    const wrong = { list: Array.from({ length: 100_000 }, () => 1) };

    expect(await told(schema, wrong)).toBe("list.0: must be string");
  });

  it("is draft 2020-12, or draft 7 where it says so", async () => {
    const tuple = { type: "object", properties: { at: { items: [{ type: "number" }] } } };
    const modern = { properties: { at: { prefixItems: [{ type: "number" }] } } };
    const draft7 = { ...tuple, $schema: "http://json-schema.org/draft-07/schema#" };

    expect(await told(draft7, { at: ["x"] })).toContain("at.0: must be number");
    expect(await told(modern, { at: ["x"] })).toContain("at.0: must be number");
    expect(refusalOf(tuple)).toMatchObject({ code: "invalid_definition" });
  });

  it("resolves references inside itself", async () => {
    const schema = { $defs: { n: { type: "number" } }, properties: { a: { $ref: "#/$defs/n" } } };

    expect(await told(schema, { a: "x" })).toBe("a: must be number");
    expect(await told(schema, { a: 1 })).toBe("");
  });

  it("may be given twice, also with the same id", async () => {
    const schema = { $id: "https://example.com/a", type: "object" };

    expect(await told(schema, {})).toBe("");
    expect(await told(schema, {})).toBe("");
  });

  it("is told to a model without its dialect, and can't be changed afterwards", () => {
    const mine = structuredClone(person);
    const schema = fromJsonSchema(mine);
    const { $schema: _, ...expected } = person;
    const clear = (list: unknown): void => void (list as unknown[]).splice(0);

    clear(mine["required"]);
    clear(schema["~standard"].jsonSchema.input({ target: "draft-2020-12" })["required"]);

    expect(jsonSchemaOf(schema)).toStrictEqual(expected);
    expect(schema["~standard"].validate({})).toHaveProperty("issues");
  });

  it("describes a tool", () => {
    const tool = defineTool({ name: "t", input: fromJsonSchema(person), run: () => "" });

    expect(tool.inputSchema).toMatchObject({ type: "object", required: ["name"] });
  });
});

describe("a JSON Schema that can't be used", () => {
  let deep: JsonObject = {};
  for (let level = 0; level < 70; level += 1) deep = { not: deep };

  it.each<[string, unknown]>([
    ["has a type that there isn't", { type: "objekt" }],
    ["has properties that are none", { properties: 5 }],
    ["refers to elsewhere", { $ref: "https://example.com/other.json" }],
    ["refers to nothing", { $ref: "#/$defs/none" }],
    ["has a broken pattern", { properties: { a: { pattern: "(" } } }],
    ["is checked in a promise", { $async: true, type: "object" }],
    ["is not an object", "object"],
    ["is a list", []],
    ["is nothing", undefined],
    ["is too deep", deep],
    ["is too large", { description: "x".repeat(300_000) }],
    ["has too many keys", Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [at, {}]))],
    ["is not JSON", { default: new Date() }],
  ])("because it %s is refused when it is given", (_, schema) => {
    const refusal = refusalOf(schema);

    expect(refusal).toMatchObject({ name: "MillraceError", code: "invalid_definition" });
    expect(String(refusal)).toContain("not a usable JSON Schema: ");
  });
});
