import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";

/**
 * The part of JSON Schema that a vendor can enforce on a reply. All vendors require closed objects.
 */
export interface Subset {
  readonly keywords: ReadonlySet<string>;
  readonly formats: ReadonlySet<string>;
  /** The limit of optional properties in the whole schema. */
  readonly optional: number;
  /** True if a definition may contain itself. */
  readonly recursive: boolean;
  /** The largest `minItems` that the vendor accepts. */
  readonly minItems: number;
}

/** A subset by its keywords and formats, in addition to those that every vendor accepts. */
export function subset(
  keywords: string,
  formats: string,
  rest: Omit<Subset, "keywords" | "formats">,
): Subset {
  return {
    keywords: new Set(`${commonKeywords} ${keywords}`.trim().split(/\s+/)),
    formats: new Set(`${commonFormats} ${formats}`.trim().split(/\s+/)),
    ...rest,
  };
}

const commonKeywords =
  "$ref additionalProperties anyOf const description enum format items minItems properties required title type";
const commonFormats = "date date-time duration email hostname ipv4 ipv6 time uuid";

/**
 * True if a schema describes an object and uses only the subset. Unknown keywords are not in it: a
 * vendor refuses the whole request for one keyword. Visits each definition once.
 */
export function keepsTo(schema: Json, within: Subset): schema is JsonObject {
  return isJsonObject(schema) && schema["type"] === "object" && new Walk(schema, within).isSound();
}

/** The lowest limits of any vendor: ten levels, 5,000 properties and 1,000 `enum` values. */
const most = { depth: 10, properties: 5_000, values: 1_000 };

const types = ["array", "boolean", "integer", "null", "number", "object", "string"];

class Walk {
  readonly #within: Subset;
  readonly #root: JsonObject;
  readonly #definitions = new Map<string, Json>();
  /** Definitions that were visited, and those in progress. */
  readonly #visited = new Set<string>();
  readonly #open = new Set<string>();
  #optional = 0;
  #properties = 0;
  #values = 0;

  constructor(root: JsonObject, within: Subset) {
    const { $schema: _, $defs, definitions, ...rest } = root as Readonly<Record<string, Json>>;
    this.#root = rest;
    this.#within = within;
    for (const [key, named] of Object.entries({ $defs, definitions })) {
      for (const [name, each] of Object.entries(isJsonObject(named) ? named : {})) {
        this.#definitions.set(`#/${key}/${name}`, each);
      }
    }
  }

  isSound(): boolean {
    return (
      this.#visit("#", this.#root) &&
      [...this.#definitions].every(([name, each]) => this.#visit(name, each)) &&
      this.#optional <= this.#within.optional &&
      this.#properties <= most.properties &&
      this.#values <= most.values
    );
  }

  #visit(name: string, schema: Json): boolean {
    if (this.#open.has(name)) return this.#within.recursive;
    if (this.#visited.has(name)) return true;
    this.#visited.add(name);
    this.#open.add(name);
    const isSound = this.#node(schema, 0);
    this.#open.delete(name);
    return isSound;
  }

  #node(node: Json | undefined, depth: number): boolean {
    if (!isJsonObject(node) || depth > most.depth) return false;
    const keys = Object.keys(node);
    if (!keys.every((key) => this.#within.keywords.has(key))) return false;
    const { $ref } = node as { readonly $ref?: Json };
    if ($ref !== undefined) return keys.length === 1 && this.#reference($ref);
    const isSomething = ["type", "anyOf", "allOf", "enum", "const"].some((key) =>
      Object.hasOwn(node, key),
    );
    return (
      isSomething &&
      this.#isObject(node, depth) &&
      this.#isList(node, depth) &&
      this.#isValue(node) &&
      this.#choices(node["anyOf"], depth) &&
      this.#choices(node["allOf"], depth)
    );
  }

  #reference($ref: Json): boolean {
    if (typeof $ref !== "string") return false;
    const target = $ref === "#" ? this.#root : this.#definitions.get($ref);
    return target !== undefined && this.#visit($ref, target);
  }

  #isObject(node: JsonObject, depth: number): boolean {
    const { properties, additionalProperties, required = [] } = node as Partial<JsonObject>;
    const isObject = typesOf(node).includes("object");
    if (!isObject) return [properties, additionalProperties, node["required"]].every(isAbsent);
    if (additionalProperties !== false || !isJsonObject(properties)) return false;
    if (!Array.isArray(required)) return false;
    const names = Object.keys(properties);
    this.#properties += names.length;
    this.#optional += names.filter((name) => !required.includes(name)).length;
    return (
      required.every((name) => typeof name === "string" && Object.hasOwn(properties, name)) &&
      Object.values(properties).every((each) => this.#node(each, depth + 1))
    );
  }

  #isList(node: JsonObject, depth: number): boolean {
    const { items, minItems = 0 } = node as Partial<JsonObject>;
    if (!typesOf(node).includes("array")) return [items, node["minItems"]].every(isAbsent);
    if (typeof minItems !== "number" || minItems > this.#within.minItems) return false;
    return this.#node(items, depth + 1);
  }

  #isValue(node: JsonObject): boolean {
    const { enum: values, format, const: value = null } = node as Partial<JsonObject>;
    const given = typesOf(node);
    if (node["type"] !== undefined && given.length === 0) return false;
    if (!given.every((type) => typeof type === "string" && types.includes(type))) return false;
    const isFormat = typeof format === "string" && this.#within.formats.has(format);
    if (format !== undefined && !isFormat) return false;
    if (typeof value === "object" && value !== null) return false;
    if (values === undefined) return true;
    if (!Array.isArray(values) || values.length === 0) return false;
    this.#values += values.length;
    return values.every((each) => typeof each !== "object" || each === null);
  }

  #choices(choices: Json | undefined, depth: number): boolean {
    if (choices === undefined) return true;
    if (!Array.isArray(choices) || choices.length === 0) return false;
    return choices.every((each: Json) => this.#node(each, depth + 1));
  }
}

function typesOf(node: JsonObject): readonly Json[] {
  const type = node["type"];
  if (type === undefined) return [];
  return Array.isArray(type) ? (type as readonly Json[]) : [type];
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined;
}
