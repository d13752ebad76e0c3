import { checkJson, isJsonObject } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";

import { cappedText, visibleText } from "./visible-text.ts";

/** A server's schema as it is shown and as it is checked by, or why it is refused. */
export type ReadSchema =
  | {
      readonly ok: true;
      /** What the model is sent: everything, without hidden characters in the descriptions. */
      readonly shown: JsonObject;
      /** What inputs are checked by: the same without patterns that could take endless time. */
      readonly checked: JsonObject;
    }
  | { readonly ok: false; readonly reason: string };

/** Larger ones are refused: they would fill the model's window. UTF-16 units, as JSON text. */
const limits = { depth: 40, keys: 1_000, length: 65_536 };
/** UTF-8 bytes of one description inside a schema. */
const noteBytes = 2_048;
/** How many nodes a schema may have when its references are written out. */
const unfoldedNodes = 20_000;

/** How deep it may be then. */
const deepestUnfolded = 200;

const references: ReadonlySet<string> = new Set(["$ref", "$dynamicRef", "$recursiveRef"]);
const notes: ReadonlySet<string> = new Set(["description", "title", "$comment"]);
/** Under these stand values, not schemas. */
const values: ReadonlySet<string> = new Set(["const", "enum", "default", "examples"]);
/** Under these stand schemas by name, and the names are the user's. */
const maps: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
  "dependentRequired",
]);

/**
 * Reads a schema that a server sent. Refused are those that are no object, too large, or hide
 * something where it can't be taken out without a change of meaning. Linear in the schema.
 */
export function readSchema(schema: unknown): ReadSchema {
  if (!isJsonObject(schema)) return refuse("it is no object");
  const fault = checkJson(schema, limits);
  if (fault !== undefined) return refuse(`it is ${fault.code.replaceAll("_", " ")}`);
  if (schema["type"] !== "object") return refuse('its "type" is not "object"');
  const where: string[] = [];
  const cleaned = show(schema, where, "schema");
  if (where.length > 0) return refuse(`it has hidden characters in ${where.join(", ")}`);
  // `show` makes an object of an object.
  const shown = cleaned as JsonObject;
  // The root is a schema, so it stays an object.
  const stripped = strip(shown, "schema") as JsonObject;
  switch (unfold(stripped)) {
    case "bounded":
      return { ok: true, shown, checked: stripped };
    case "endless":
      return { ok: true, shown, checked: { type: "object" } };
    case "dangling":
      return refuse("it refers to what is not in it");
  }
}

function refuse(reason: string): ReadSchema {
  return { ok: false, reason };
}

type SchemaPosition = "schema" | "map" | "value";

/** The schema with readable notes. Notes where something is hidden that has to stay as it is. */
function show(node: Json, where: string[], position: SchemaPosition): Json {
  if (typeof node === "string") {
    if (visibleText(node) !== node && where.length === 0) where.push("a value");
    return node;
  }
  if (typeof node !== "object" || node === null) return node;
  if (Array.isArray(node)) return node.map((child: Json) => show(child, where, position));
  // Not an array any more, which TypeScript can't see for readonly ones.
  const entries = Object.entries(node as JsonObject).map(([key, child]): [string, Json] => {
    if (visibleText(key) !== key && where.length === 0) where.push("a name");
    if (position === "schema" && notes.has(key) && typeof child === "string") {
      return [key, cappedText(visibleText(child), noteBytes)];
    }
    return [key, show(child, where, positionOf(position, key))];
  });
  return Object.fromEntries(entries);
}

function positionOf(position: SchemaPosition, key: string): SchemaPosition {
  if (position === "value") return "value";
  if (position === "map") return "schema";
  if (values.has(key)) return "value";
  return maps.has(key) ? "map" : "schema";
}

// Checking must not take longer than reading, and here a stranger has written the rules, and for
// output the data as well. So patterns and uniqueness, which can take exponential and quadratic time,
// are left to the server, and so is a schema that refers to itself or grows beyond all bounds when
// its references are followed: of that we check only that there is an object.

const left: ReadonlySet<string> = new Set(["pattern", "patternProperties", "uniqueItems"]);
/** They speak of what no pattern took, so they fall with the patterns. */
const leftWithPatterns: ReadonlySet<string> = new Set([
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
]);

function strip(node: Json, position: SchemaPosition): Json {
  if (typeof node !== "object" || node === null || position === "value") return node;
  if (Array.isArray(node)) return node.map((child: Json) => strip(child, position));
  // Not an array any more, which TypeScript can't see for readonly ones.
  const object = node as JsonObject;
  const patterned = position === "schema" && object["patternProperties"] !== undefined;
  const kept = Object.entries(object).filter(
    ([key]) =>
      position !== "schema" || !(left.has(key) || (patterned && leftWithPatterns.has(key))),
  );
  return Object.fromEntries(
    kept.map(([key, child]) => [key, strip(child, positionOf(position, key))]),
  );
}

/** Whether following all references ends, and soon. Anchors are not followed: they count as endless. */
function unfold(root: JsonObject): "bounded" | "endless" | "dangling" {
  const sizes = new Map<Json, number>();
  const open = new Set<Json>();
  let dangling = false;
  const sizeOf = (node: Json, position: SchemaPosition): number => {
    if (typeof node !== "object" || node === null || position === "value") return 1;
    const known = sizes.get(node);
    if (known !== undefined) return known;
    if (open.has(node) || open.size > deepestUnfolded) return Infinity;
    open.add(node);
    const isList = Array.isArray(node);
    let size = 1;
    for (const [key, child] of Object.entries(node as JsonObject)) {
      if (position === "schema" && !isList && references.has(key) && typeof child === "string") {
        const target = pointed(root, child);
        if (target === undefined) dangling ||= !/^#[^/]/u.test(child);
        size += target === undefined ? Infinity : sizeOf(target, "schema");
      } else size += sizeOf(child, isList ? position : positionOf(position, key));
    }
    open.delete(node);
    sizes.set(node, size);
    return size;
  };
  const size = sizeOf(root, "schema");
  if (dangling) return "dangling";
  return size <= unfoldedNodes ? "bounded" : "endless";
}

/** What a reference inside the schema points at. */
function pointed(root: JsonObject, reference: string): Json | undefined {
  if (reference !== "#" && !reference.startsWith("#/")) return undefined;
  let node: Json | undefined = root;
  for (const step of reference.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (typeof node !== "object" || node === null || !Object.hasOwn(node, key)) return undefined;
    // Its own property, and JSON all the way down.
    node = (node as JsonObject)[key];
  }
  return node;
}
