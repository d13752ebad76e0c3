import { isJsonObject } from "@millrace/core/wire";

/**
 * The part of JSON Schema that the routes are described with. It is data: the handler checks bodies with
 * it, and the OpenAPI document holds it as it is. An object is closed unless it says otherwise.
 */
export type Shape =
  | TextShape
  | NumberShape
  | ListShape
  | ObjectShape
  | { readonly type: "boolean"; readonly description?: string }
  | { readonly type: "null" }
  | { readonly const: string | number | boolean; readonly description?: string }
  | { readonly enum: readonly string[]; readonly description?: string }
  /** One of several; the first that fits counts. Variants with a `const` of one name are distinguished by it. */
  | { readonly anyOf: readonly Shape[]; readonly description?: string }
  /** A shape that stands elsewhere in the document under this name. */
  | { readonly $ref: string }
  /** Any JSON. */
  | { readonly description: string };

interface TextShape {
  readonly type: "string";
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A regular expression that takes linear time. */
  readonly pattern?: string;
  readonly description?: string;
}

interface NumberShape {
  readonly type: "integer" | "number";
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

interface ListShape {
  readonly type: "array";
  readonly items: Shape;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly description?: string;
}

/** An object with named fields. */
export interface ObjectShape {
  readonly type: "object";
  readonly properties: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties: boolean;
  /** Exactly one of these has all its fields. */
  readonly oneOf?: readonly { readonly required: readonly string[] }[];
  readonly description?: string;
}

/** Where a value does not fit, and how to write it instead. */
export interface ShapeFault {
  /** A JSON pointer; empty for the whole value. */
  readonly pointer: string;
  readonly fix: string;
}

/** The first place where a value does not fit its shape. Linear in the value. */
export function shapeFault(shape: Shape, value: unknown): ShapeFault | undefined {
  if ("$ref" in shape) throw new TypeError("a request's shape has no reference");
  if ("anyOf" in shape) return variantFault(shape.anyOf, value);
  if ("const" in shape) {
    return value === shape.const
      ? undefined
      : { pointer: "", fix: `use ${JSON.stringify(shape.const)}` };
  }
  if ("enum" in shape) {
    const fits = typeof value === "string" && shape.enum.includes(value);
    return fits ? undefined : { pointer: "", fix: `use one of ${shape.enum.join(", ")}` };
  }
  if (!("type" in shape)) return undefined;
  switch (shape.type) {
    case "string":
      return textFault(shape, value);
    case "integer":
    case "number":
      return numberFault(shape, value);
    case "boolean":
      return typeof value === "boolean" ? undefined : { pointer: "", fix: "use true or false" };
    case "null":
      return value === null ? undefined : { pointer: "", fix: "use null" };
    case "array":
      return listFault(shape, value);
    case "object":
      return objectFault(shape, value);
    default:
      return shape satisfies never;
  }
}

function textFault(shape: TextShape, value: unknown): ShapeFault | undefined {
  if (typeof value !== "string") return { pointer: "", fix: "use a text" };
  const { minLength = 0, maxLength = Infinity, pattern } = shape;
  if (value.length < minLength) return { pointer: "", fix: `use at least ${minLength} characters` };
  if (value.length > maxLength) return { pointer: "", fix: `use at most ${maxLength} characters` };
  if (pattern !== undefined && !compiled(pattern).test(value)) {
    return { pointer: "", fix: `use a text of the form ${pattern}` };
  }
  return undefined;
}

const patterns = new Map<string, RegExp>();

function compiled(pattern: string): RegExp {
  let known = patterns.get(pattern);
  if (known === undefined) patterns.set(pattern, (known = new RegExp(pattern, "u")));
  return known;
}

function numberFault(shape: NumberShape, value: unknown): ShapeFault | undefined {
  const { minimum = -Infinity, maximum = Infinity } = shape;
  const fits = shape.type === "number" ? typeof value === "number" : Number.isInteger(value);
  if (fits && Number(value) >= minimum && Number(value) <= maximum) return undefined;
  const what = shape.type === "number" ? "a number" : "a whole number";
  return { pointer: "", fix: `use ${what}${range(minimum, maximum)}` };
}

function range(minimum: number, maximum: number): string {
  const from = minimum === -Infinity ? "" : ` from ${minimum}`;
  return maximum === Infinity ? from : `${from} to ${maximum}`;
}

function listFault(shape: ListShape, value: unknown): ShapeFault | undefined {
  if (!Array.isArray(value)) return { pointer: "", fix: "use a list" };
  const { minItems = 0, maxItems = Infinity, items } = shape;
  if (value.length < minItems || value.length > maxItems) {
    return { pointer: "", fix: `use a list of length${range(minItems, maxItems)}` };
  }
  for (const [at, each] of value.entries()) {
    const fault = shapeFault(items, each);
    if (fault !== undefined) return below(`${at}`, fault);
  }
  return undefined;
}

function objectFault(shape: ObjectShape, value: unknown): ShapeFault | undefined {
  if (!isJsonObject(value)) return { pointer: "", fix: "use an object" };
  const { properties, required = [], additionalProperties, oneOf } = shape;
  for (const name of required) {
    if (!Object.hasOwn(value, name)) return below(name, { pointer: "", fix: "it is missing" });
  }
  for (const [name, each] of Object.entries(value)) {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined && !additionalProperties) {
      const fix = `no such field; there are ${Object.keys(properties).join(", ")}`;
      return below(name, { pointer: "", fix });
    }
    const fault = field === undefined ? undefined : shapeFault(field, each);
    if (fault !== undefined) return below(name, fault);
  }
  if (oneOf === undefined) return undefined;
  const met = oneOf.filter(({ required: all }) => all.every((name) => Object.hasOwn(value, name)));
  if (met.length === 1) return undefined;
  const names = oneOf.map(({ required: all }) => all.join(" and ")).join(" or ");
  return { pointer: "", fix: `use exactly one of ${names}` };
}

/** A fault of a field or an element, as a fault of what it stands in. */
function below(name: string, { pointer, fix }: ShapeFault): ShapeFault {
  const escaped = name.replaceAll("~", "~0").replaceAll("/", "~1");
  return { pointer: `/${escaped}${pointer}`, fix };
}

/** Of variants that differ by a constant field, the fault of the one that was meant. */
function variantFault(variants: readonly Shape[], value: unknown): ShapeFault | undefined {
  let meant: ShapeFault | undefined;
  for (const variant of variants) {
    const fault = shapeFault(variant, value);
    if (fault === undefined) return undefined;
    if (isMeant(variant, value)) meant ??= fault;
  }
  return meant ?? { pointer: "", fix: "it has none of the forms that are possible here" };
}

function isMeant(variant: Shape, value: unknown): boolean {
  if (!("properties" in variant) || !isJsonObject(value)) return false;
  return Object.entries(variant.properties).some(
    ([name, field]) => "const" in field && value[name] === field.const,
  );
}
