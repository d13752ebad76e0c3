import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { anthropicMessagesProtocol } from "./anthropic-messages/protocol.ts";
import { geminiProtocol } from "./gemini/protocol.ts";
import { openaiChatProtocol } from "./openai-chat/protocol.ts";
import { openaiResponsesProtocol } from "./openai-responses/protocol.ts";
import { describeTool } from "./tool-input.ts";

/** What a schema library writes for a union with a tag. */
const union = {
  oneOf: [
    {
      type: "object",
      properties: { op: { type: "string", const: "add" }, a: { type: "number" } },
      required: ["op", "a"],
      additionalProperties: false,
    },
    {
      type: "object",
      properties: { op: { type: "string", const: "del" }, id: { type: "string" } },
      required: ["op", "id"],
      additionalProperties: false,
    },
  ],
};

const merged = {
  type: "object",
  properties: {
    op: { type: "string", enum: ["add", "del"] },
    a: { type: "number" },
    id: { type: "string" },
  },
  required: ["op"],
  additionalProperties: false,
};

const protocols = [
  ["openai-chat", openaiChatProtocol, ["function"], "parameters"],
  ["openai-responses", openaiResponsesProtocol, [], "parameters"],
  ["anthropic-messages", anthropicMessagesProtocol, [], "input_schema"],
] as const;

describe("a tool whose input is a union", () => {
  const request = {
    transcript: [],
    tools: [{ name: "act", description: "Acts.", input: union }],
  };

  test.each(protocols)(
    "has all its variants in one object, and its own schema to the letter: %s",
    (_, protocol, path, key) => {
      const [tool] = protocol.request(request, { model: "m" }).body["tools"] as readonly Json[];
      const described = path.reduce<Json | undefined>(
        (found, step) => (isJsonObject(found) ? found[step] : undefined),
        tool,
      ) as JsonObject;

      expect(described[key]).toStrictEqual(merged);
      expect(described["description"]).toBe(
        `Acts.\n\nThe arguments match this JSON Schema:\n${JSON.stringify(union)}`,
      );
    },
  );

  test("goes to Gemini as it is, which takes a union beside the type", () => {
    const { tools } = geminiProtocol.request(request, { model: "gemini-3-pro" }).body;
    const declared = {
      name: "act",
      description: "Acts.",
      parametersJsonSchema: { ...union, type: "object" },
    };
    expect(tools).toStrictEqual([{ functionDeclarations: [declared] }]);
  });
});

function schemaOf(input: Json): JsonObject {
  return describeTool({ name: "act", input }).schema;
}

describe("the object that stands for a schema", () => {
  test("has what all of `allOf` require, and what each of them states of a property", () => {
    const input = {
      allOf: [
        { properties: { a: { type: "string" } }, required: ["a"] },
        { properties: { a: { minLength: 1 }, b: {} }, required: ["b"] },
      ],
    };

    expect(schemaOf(input)).toStrictEqual({
      type: "object",
      properties: { a: { allOf: [{ type: "string" }, { minLength: 1 }] }, b: {} },
      required: ["a", "b"],
    });
  });

  test("keeps its own properties beside variants that only require some of them", () => {
    const properties = { a: { type: "string" }, b: { type: "string" } };
    const input = { type: "object", properties, anyOf: [{ required: ["a"] }, { required: ["b"] }] };

    expect(schemaOf(input)).toStrictEqual({ type: "object", properties });
  });

  test("is the definition that the top refers to", () => {
    const node = { type: "object", properties: { below: { $ref: "#/$defs/node" } } };
    const $defs = { node };

    expect(schemaOf({ $ref: "#/$defs/node", $defs })).toStrictEqual({ ...node, $defs });
  });

  test("has references that lead where they led, also those to the whole and by a path", () => {
    const first = {
      type: "object",
      properties: { more: { $ref: "#" }, same: { $ref: "#/anyOf/1" } },
    };
    const input = { anyOf: [first, { type: "null" }] };

    const whole = {
      anyOf: [
        {
          type: "object",
          properties: {
            more: { $ref: "#/$defs/__input" },
            same: { $ref: "#/$defs/__input/anyOf/1" },
          },
        },
        { type: "null" },
      ],
    };
    expect(schemaOf(input)).toStrictEqual({
      type: "object",
      properties: whole.anyOf[0]?.properties,
      $defs: { __input: whole },
    });
  });

  test("ends for definitions that contain themselves", () => {
    const $defs = { a: { anyOf: [{ $ref: "#/$defs/a" }, { properties: { x: true } }] } };
    expect(schemaOf({ $ref: "#/$defs/a", $defs })).toMatchObject({ properties: { x: true } });
  });

  test("is made in time for definitions that refer to others twice, thirty levels deep", () => {
    const level = (at: number): Json => ({
      anyOf: [{ $ref: `#/$defs/d${at + 1}` }, { $ref: `#/$defs/d${at + 1}` }],
    });
    const $defs = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`d${at}`, level(at)]));
    expect(schemaOf({ $ref: "#/$defs/d0", $defs })).toMatchObject({ type: "object" });
  });

  test("describes a long union inside the schema, for servers that cut or refuse long descriptions", () => {
    const long = { ...union, title: "t".repeat(1_100) };
    const { description, schema } = describeTool({
      name: "act",
      description: "Acts.",
      input: long,
    });

    expect(description).toBe("Acts.");
    expect(schema["description"]).toContain(JSON.stringify(long));
  });
});

test.each([
  false,
  { type: "string" },
  { type: ["array", "null"] },
  { enum: ["a", 1] },
  { const: "a" },
  { anyOf: [{ type: "string" }, { type: "null" }] },
  { type: "object", allOf: [{ type: "array" }] },
])("a tool with the input %j is refused, because arguments are an object", (input) => {
  expect(() => describeTool({ name: "act", input })).toThrow("put the value under a property");
});
