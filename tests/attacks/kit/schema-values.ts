import type { Random } from "../../kit/random.ts";

/** As much of JSON Schema as the server's document uses. */
export interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly pattern?: string;
}

const texts = [
  "Hello",
  "My lamp arrived broken",
  "",
  "\u65e5\u672c\u8a9e",
  "\u00e9/\u00ff",
  "\ud800",
  "data:\u00e9;base64,AA==",
  "data:image/png;base64,AAAA",
  "https://other.test/a.png",
  "image/png",
  "__proto__",
  "a\r\nb: c",
  "{",
  "x".repeat(2_000),
];

/** A value that a schema describes, mostly: names and texts are odd ones. `id` is what stands for ids. */
export function valueOf(random: Random, schema: JsonSchema, id: string, name = ""): unknown {
  const { anyOf, oneOf, properties, items } = schema;
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return random.pick(schema.enum);
  const choices = anyOf ?? oneOf;
  if (choices !== undefined && choices.length > 0)
    return valueOf(random, random.pick(choices), id, name);
  switch (schema.type) {
    case "object": {
      const names = Object.keys(properties ?? {}).filter(
        (each) => schema.required?.includes(each) === true || random.chance(0.4),
      );
      return Object.fromEntries(
        names.map((each) => [each, valueOf(random, properties?.[each] ?? {}, id, each)]),
      );
    }
    case "array":
      return Array.from({ length: random.below(3) }, () => valueOf(random, items ?? {}, id));
    case "integer":
    case "number":
      return random.pick([0, 1, -1, 5, 1e300, 0.5]);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    case "string":
      if (/id$/i.test(name) && random.chance(0.8)) return id;
      return random.pick(texts);
    default:
      return random.pick<unknown>([random.pick(texts), 1, null, [], {}, [{ role: "user" }]]);
  }
}
