import type { Json, JsonObject } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import type { Random } from "../../../../../tests/kit/random.ts";
import type { Marks } from "./marks.ts";

const names = [
  "look",
  "fs.read",
  "fs/read",
  "fs_read",
  "3d_render",
  "a:b",
  "größe",
  "日本",
  "x".repeat(128),
  `${"x".repeat(127)}y`,
  "a b",
  "-dash",
];

/** Draws tools with names of any spelling and schemas of any form, with marks all over the schemas. */
export function drawTools(random: Random, marks: Marks): readonly ToolDescription[] {
  const first = random.below(names.length);
  const chosen = [...names, ...names].slice(first, first + random.below(5));
  return chosen.map((name) => ({
    name,
    description: random.chance(0.8) ? marks.make(`the description of ${name}`) : undefined,
    input: drawSchema(random, marks),
  }));
}

function drawSchema(random: Random, marks: Marks): Json {
  const drawn = new Schemas(random, marks);
  const variants = (): readonly Json[] => [
    drawn.variant("a"),
    drawn.variant("b"),
    drawn.variant("c"),
  ];
  switch (random.below(9)) {
    case 0:
      return drawn.object();
    case 1:
      return { anyOf: variants() };
    case 2:
      return { oneOf: variants(), $schema: "https://json-schema.org/draft/2020-12/schema" };
    case 3:
      return { type: "object", ...drawn.object(), anyOf: variants() };
    case 4:
      return { allOf: [drawn.object(), drawn.object(), { anyOf: variants() }] };
    case 5:
      return {
        $ref: "#/$defs/top",
        $defs: {
          top: { oneOf: [drawn.variant("a"), { $ref: "#/$defs/b" }] },
          b: drawn.variant("b"),
        },
      };
    case 6:
      return { oneOf: [drawn.variant("a"), { ...drawn.variant("b"), not: { required: ["z"] } }] };
    case 7:
      // References by path, as some generators write them, and to the whole.
      return {
        anyOf: [
          { type: "object", properties: { [drawn.key()]: drawn.value() } },
          { type: "object", properties: { again: { $ref: "#/anyOf/0" }, all: { $ref: "#" } } },
        ],
      };
    default:
      return { anyOf: [drawn.object(), { type: "null" }, { anyOf: variants() }] };
  }
}

/** Draws pieces of schemas. */
class Schemas {
  readonly #random: Random;
  readonly #marks: Marks;

  constructor(random: Random, marks: Marks) {
    this.#random = random;
    this.#marks = marks;
  }

  key(): string {
    return this.#marks.make("a property of a tool");
  }

  value(): Json {
    const mark = this.#marks.make("the value of a property of a tool");
    return this.#random.pick<Json>([
      { type: "string", description: mark },
      { const: mark },
      { enum: [mark, null, 1] },
      { type: ["string", "null"], title: mark },
      { anyOf: [{ type: "number" }, { type: "string", pattern: mark }] },
      { type: "array", prefixItems: [{ const: mark }], items: false },
      { type: "object", additionalProperties: { const: mark } },
    ]);
  }

  object(): JsonObject {
    const key = this.key();
    const required = this.#random.chance(0.5) ? { required: [key] } : {};
    return { type: "object", properties: { [key]: this.value() }, ...required };
  }

  variant(tag: string): JsonObject {
    const object = this.object();
    const properties = {
      kind: { type: "string", const: tag },
      ...(object["properties"] as JsonObject),
    };
    return { ...object, properties, required: ["kind"], additionalProperties: false };
  }
}
