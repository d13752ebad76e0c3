import { isJsonObject } from "@millrace/core/wire";
import type { JsonObject } from "@millrace/core";
import type { Checked, Issue, Schema } from "@millrace/core/schema";

/** A field of an input: its JSON Schema, and whether a value fits it. */
export interface Field {
  readonly schema: JsonObject;
  readonly accepts: (value: unknown) => boolean;
}

/** The fields that a variant has beside its tag. Others are passed on unread. */
export interface Variant {
  readonly required?: readonly string[];
  readonly optional?: readonly string[];
}

/** A union of objects, one for each value of a field, as data. */
export interface Union {
  readonly tag: string;
  readonly fields: Readonly<Record<string, Field>>;
  readonly variants: Readonly<Record<string, Variant>>;
}

export const text = (description: string): Field => ({
  schema: { type: "string", description },
  accepts: (value) => typeof value === "string",
});

export const number = (description: string): Field => ({
  schema: { type: "number", description },
  accepts: (value) => typeof value === "number" && Number.isFinite(value),
});

export const whole = (description: string): Field => ({
  schema: { type: "integer", description },
  accepts: Number.isSafeInteger,
});

export const flag = (description: string): Field => ({
  schema: { type: "boolean", description },
  accepts: (value) => typeof value === "boolean",
});

export const oneOf = (description: string, values: readonly string[]): Field => ({
  schema: { enum: values, description },
  accepts: (value) => values.some((each) => each === value),
});

export const listOf = (description: string, item: Field): Field => ({
  schema: { type: "array", items: item.schema, description },
  accepts: (value) => Array.isArray(value) && value.every(item.accepts),
});

/** An object whose fields are all required. */
export const recordOf = (fields: Readonly<Record<string, Field>>): Field => ({
  schema: {
    type: "object",
    properties: schemasOf(fields),
    required: Object.keys(fields),
  },
  accepts: (value) =>
    isJsonObject(value) &&
    Object.entries(fields).every(([name, { accepts }]) => accepts(value[name])),
});

/** An object of texts. */
export const texts = (description: string): Field => ({
  schema: { type: "object", additionalProperties: { type: "string" }, description },
  accepts: (value) =>
    isJsonObject(value) && Object.values(value).every((each) => typeof each === "string"),
});

/**
 * The JSON Schema of a union as one object with all fields. Which fields a variant needs is in the
 * description: vendors refuse a choice at the top of a tool's schema, and a model fills one flat object
 * more surely than one of twenty.
 */
export function unionSchema({ tag, fields, variants }: Union): JsonObject {
  const rows = Object.entries(variants).map(([name, { required = [], optional = [] }]) => {
    const optionals = optional.map((field) => `${field}?`);
    return `${name}(${[...required, ...optionals].join(", ")})`;
  });
  return {
    type: "object",
    properties: {
      [tag]: { enum: Object.keys(variants), description: rows.join("; ") },
      ...schemasOf(fields),
    },
    required: [tag],
  };
}

function schemasOf(fields: Readonly<Record<string, Field>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).map(([name, { schema }]) => [name, schema]));
}

/** What is wrong with a value by a union. */
export function unionIssues(
  { tag, fields, variants }: Union,
  value: unknown,
  path: readonly PropertyKey[] = [],
): readonly Issue[] {
  if (!isJsonObject(value)) return [{ message: "must be an object", path }];
  const given: JsonObject = value;
  const name = given[tag];
  const variant = typeof name === "string" && Object.hasOwn(variants, name) && variants[name];
  if (typeof variant !== "object") {
    const names = Object.keys(variants).join(", ");
    return [{ message: `must be one of ${names}`, path: [...path, tag] }];
  }
  const { required = [], optional = [] } = variant;
  return [...required, ...optional].flatMap((field): readonly Issue[] => {
    const isLeft = given[field] === undefined;
    if (isLeft && optional.includes(field)) return [];
    if (!isLeft && fields[field]?.accepts(given[field]) === true) return [];
    const wanted = JSON.stringify(fields[field]?.schema["type"] ?? "a known value");
    const message = isLeft ? `is required for ${name as string}` : `must be ${wanted}`;
    return [{ message, path: [...path, field] }];
  });
}

/** A schema from its JSON Schema and its check. Values are not changed. */
export function schemaFrom<In extends object>(
  schema: JsonObject,
  issuesOf: (value: unknown) => readonly Issue[],
): Schema<In, In> {
  const own = (): Record<string, unknown> => structuredClone(schema);
  return {
    "~standard": {
      version: 1,
      vendor: "millrace",
      validate: (value): Checked<In> => {
        const issues = issuesOf(value);
        // Without an issue it has all that the type promises.
        return issues.length > 0 ? { issues } : { value: value as In };
      },
      jsonSchema: { input: own, output: own },
    },
  };
}
