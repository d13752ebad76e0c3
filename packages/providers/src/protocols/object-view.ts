import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { listAt } from "./read.ts";

/** What a schema states of objects: each property with the schemas that any variant has for it. */
export interface ObjectView {
  readonly properties: ReadonlyMap<string, Json>;
  /** Properties that every variant requires. */
  readonly required: ReadonlySet<string>;
  /** True if no variant takes further properties. */
  readonly closed: boolean;
}

const anyObject: ObjectView = { properties: new Map(), required: new Set(), closed: false };

/** Views of the nodes of one schema. */
export class ObjectViews {
  readonly #root: JsonObject;
  /** References in progress. One that contains itself adds nothing. */
  readonly #open = new Set<string>();
  /** Each node is read once: definitions that refer to others twice would double at each level. */
  readonly #known = new Map<JsonObject, ObjectView | undefined>();

  constructor(root: JsonObject) {
    this.#root = root;
  }

  /** The view of a node, or undefined if no object fits it. */
  of(node: Json | undefined): ObjectView | undefined {
    if (node === true) return anyObject;
    if (!isJsonObject(node)) return undefined;
    if (!this.#known.has(node)) this.#known.set(node, this.#read(node));
    return this.#known.get(node);
  }

  #read(node: JsonObject): ObjectView | undefined {
    const views = [ownView(node)];
    if (typeof node["$ref"] === "string") views.push(this.#referred(node["$ref"]));
    for (const each of listAt(node, "allOf")) views.push(this.of(each));
    for (const key of ["anyOf", "oneOf"]) {
      if (Array.isArray(node[key]))
        views.push(either(listAt(node, key).map((each) => this.of(each))));
    }
    return both(views);
  }

  #referred(reference: string): ObjectView | undefined {
    const target = pointed(this.#root, reference);
    // An unknown reference may lead to anything.
    if (target === undefined || this.#open.has(reference)) return anyObject;
    this.#open.add(reference);
    const view = this.of(target);
    this.#open.delete(reference);
    return view;
  }
}

function mayBeObject(node: JsonObject): boolean {
  const { type, enum: values, const: value, not } = node as Partial<JsonObject>;
  const types = Array.isArray(type) ? (type as readonly Json[]) : [type ?? "object"];
  if (!types.includes("object")) return false;
  if (Array.isArray(values) && !values.some(isJsonObject)) return false;
  if (value !== undefined && !isJsonObject(value)) return false;
  return !(not === true || (isJsonObject(not) && Object.keys(not).length === 0));
}

/** The view by the node's own keywords, or undefined if no object fits them. */
export function ownView(node: JsonObject): ObjectView | undefined {
  if (!mayBeObject(node)) return undefined;
  const { properties } = node;
  return {
    properties: new Map(Object.entries(isJsonObject(properties) ? properties : {})),
    required: new Set(listAt(node, "required").filter((name) => typeof name === "string")),
    closed: node["additionalProperties"] === false,
  };
}

/** The view of an object that fits one of the variants. */
function either(variants: readonly (ObjectView | undefined)[]): ObjectView | undefined {
  const views = variants.filter((view) => view !== undefined);
  if (views.length === 0) return undefined;
  return {
    properties: joinedProperties(views, oneOfValues),
    required: new Set(
      views
        .flatMap(({ required }) => [...required])
        .filter((name) => views.every(({ required }) => required.has(name))),
    ),
    closed: views.every(({ closed }) => closed),
  };
}

/** The view of an object that fits all of them. It is closed only if one of them alone has properties. */
function both(all: readonly (ObjectView | undefined)[]): ObjectView | undefined {
  const views = all.filter((view) => view !== undefined);
  if (views.length < all.length) return undefined;
  const [only, ...others] = views.filter(({ properties, closed }) => properties.size > 0 || closed);
  return {
    properties: joinedProperties(views, (schemas) => ({ allOf: schemas })),
    required: new Set(views.flatMap(({ required }) => [...required])),
    closed: only?.closed === true && others.length === 0,
  };
}

function joinedProperties(
  views: readonly ObjectView[],
  join: (schemas: readonly Json[]) => Json,
): ReadonlyMap<string, Json> {
  const found = new Map<string, Map<string, Json>>();
  for (const { properties } of views) {
    for (const [name, schema] of properties) {
      const known = found.get(name) ?? new Map<string, Json>();
      found.set(name, known.set(JSON.stringify(schema), schema));
    }
  }
  return new Map(
    [...found].map(([name, schemas]) => {
      const [first = true, ...others] = schemas.values();
      return [name, others.length === 0 ? first : join([first, ...others])];
    }),
  );
}

/** Constants, such as the tag of a discriminated union, become one list of values. */
function oneOfValues(schemas: readonly Json[]): Json {
  const values = schemas.map(valuesOf);
  const known = values.filter((each) => each !== undefined);
  if (known.length < schemas.length) return { anyOf: schemas };
  const list = [...new Map(known.flat().map((value) => [JSON.stringify(value), value])).values()];
  const types = new Set(
    schemas.map((schema) => (isJsonObject(schema) ? schema["type"] : undefined)),
  );
  const [type, ...otherTypes] = types;
  return { ...(type === undefined || otherTypes.length > 0 ? {} : { type }), enum: list };
}

function valuesOf(schema: Json): readonly Json[] | undefined {
  if (!isJsonObject(schema)) return undefined;
  const { type: _, const: value, enum: values, ...rest } = schema as Partial<JsonObject>;
  if (Object.keys(rest).length > 0) return undefined;
  if (value !== undefined) return [value];
  return Array.isArray(values) ? (values as readonly Json[]) : undefined;
}

/** What a JSON pointer in a reference leads to. */
function pointed(root: JsonObject, reference: string): Json | undefined {
  if (!/^#(?:\/|$)/.test(reference)) return undefined;
  let node: Json | undefined = root;
  for (const step of reference.split("/").slice(1)) {
    const key = decoded(step).replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    // An index of a list is a key of it.
    node = (node as JsonObject)[key];
  }
  return node;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
