import type { Json, JsonObject } from "@millrace/core";
import { checkJson, encodeBase64 } from "@millrace/core/wire";
import { canonicalJson, isPlain } from "./hash.ts";
import type { ParsedForm } from "./hash.ts";

/** Compares what a schema made of an input with the input. */
export function parsedForm(input: JsonObject, value: unknown): ParsedForm {
  const parsed = jsonForm(value);
  if (parsed === undefined) return "unshown";
  const given = jsonForm(input);
  const same = given !== undefined && canonicalJson(given) === canonicalJson(parsed);
  return same ? "same" : { parsed };
}

/**
 * A value as JSON from which a person can tell what runs. JSON stays as it is. Any other value has one key
 * that begins with `$`: `$date`, `$map`, `$set`, `$bytes` (in base64), `$bigint`, `$number`, `$undefined`,
 * or `$class` with the name and the JSON of an object that has a `toJSON`. A plain object with one such key
 * is under `$object`, so that no two values have one form. Undefined where no form shows all of a value: a
 * function, a symbol, a getter, an object of a class without `toJSON`, a cycle, more than a fact may hold.
 */
function jsonForm(value: unknown): Json | undefined {
  try {
    const form = formOf(value, 0);
    return checkJson(form) === undefined ? form : undefined;
  } catch {
    return undefined; // also for what a proxy or a `toJSON` of foreign code throws
  }
}

/** More levels than a fact may hold. Ends a cycle. */
const maxDepth = 100;
const unshown = new Error("no form shows all of it");

function formOf(value: unknown, depth: number): Json {
  if (depth > maxDepth) throw unshown;
  const below = (child: unknown): Json => formOf(child, depth + 1);
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : { $number: String(value) };
    case "bigint":
      return { $bigint: String(value) };
    case "undefined":
      return { $undefined: true };
    case "object":
      return value === null ? null : objectForm(value, below);
    default:
      throw unshown;
  }
}

function objectForm(value: object, below: (child: unknown) => Json): Json {
  if (Array.isArray(value)) return Array.from(value, below);
  if (isPlain(value)) return plainForm(value, below);
  if (value instanceof Map) return { $map: Array.from(value, (pair) => pair.map(below)) };
  if (value instanceof Set) return { $set: Array.from(value, below) };
  if (value instanceof Uint8Array) return { $bytes: encodeBase64(value) };
  if (!("toJSON" in value) || typeof value.toJSON !== "function") throw unshown;
  const json = below((value as { readonly toJSON: () => unknown }).toJSON());
  return value instanceof Date ? { $date: json } : { $class: [value.constructor.name, json] };
}

function plainForm(value: object, below: (child: unknown) => Json): Json {
  const fields = Reflect.ownKeys(value).flatMap((key): [string, Json][] => {
    const field = Object.getOwnPropertyDescriptor(value, key);
    // A getter may answer anything, and JSON leaves out symbols and keys that are not enumerable.
    if (typeof key === "symbol" || field?.enumerable !== true || !("value" in field)) throw unshown;
    // A key whose value is undefined counts as absent, as in JSON.
    return field.value === undefined ? [] : [[key, below(field.value)]];
  });
  const form = Object.fromEntries(fields);
  return fields.length === 1 && fields[0]?.[0].startsWith("$") === true ? { $object: form } : form;
}
