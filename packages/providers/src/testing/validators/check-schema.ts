import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { word, words } from "./check.ts";
import type { Violations } from "./check.ts";

/** What a vendor requires of the schema of a reply. */
export interface SchemaRules {
  /** Keywords that it refuses anywhere. */
  readonly refused: string;
  /** Formats of strings. Others are refused. */
  readonly formats: string;
  /** All properties have to be required. */
  readonly required?: boolean;
  /** A definition may not contain itself. */
  readonly finite?: boolean;
}

const everyFormat = "date-time time date duration email hostname ipv4 ipv6 uuid";

const openaiStrict: SchemaRules = {
  refused: `
    allOf not oneOf if then else dependentRequired dependentSchemas patternProperties
    unevaluatedProperties propertyNames minProperties maxProperties unevaluatedItems contains
    minContains maxContains uniqueItems minLength maxLength default prefixItems`,
  formats: everyFormat,
  required: true,
};

export const anthropicFormat: SchemaRules = {
  refused: `
    not oneOf if then else dependentRequired dependentSchemas patternProperties
    unevaluatedProperties propertyNames minProperties maxProperties contains uniqueItems
    maxItems minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf
    prefixItems`,
  formats: `${everyFormat} uri`,
  finite: true,
};

/** The violations that a vendor would refuse in the schema of a reply. */
export function checkReplySchema(
  found: Violations,
  schema: Json | undefined,
  path: string,
  rules: SchemaRules,
): void {
  if (!isJsonObject(schema) || schema["type"] !== "object") {
    found.add(path, "not an object's schema");
    return;
  }
  if (schema["anyOf"] !== undefined) found.add(path, "a choice at the top");
  checkNode(found, schema, path, rules);
  for (const key of ["$defs", "definitions"]) {
    const named = schema[key];
    for (const [name, each] of Object.entries(isJsonObject(named) ? named : {})) {
      checkNode(found, each, `${path}.${key}.${name}`, rules);
      if (rules.finite === true && reaches(schema, each, `#/${key}/${name}`, new Set())) {
        found.add(`${path}.${key}.${name}`, "contains itself");
      }
    }
  }
  if (rules.finite === true && reaches(schema, schema, "#", new Set())) {
    found.add(path, "contains itself");
  }
}

function checkNode(found: Violations, node: Json, path: string, rules: SchemaRules): void {
  if (!isJsonObject(node)) {
    found.add(path, "not an object");
    return;
  }
  for (const key of words(rules.refused)) {
    if (Object.hasOwn(node, key)) found.add(`${path}.${key}`, "refused");
  }
  if (node["$ref"] !== undefined && Object.keys(node).length > 1) {
    found.add(path, "something beside a reference");
  }
  const { format, properties, items, anyOf, allOf } = node as Partial<JsonObject>;
  if (format !== undefined && !words(rules.formats).includes(word(format))) {
    found.add(`${path}.format`, "not known");
  }
  if (node["type"] === "object" || properties !== undefined) checkObject(found, node, path, rules);
  for (const [name, each] of Object.entries(isJsonObject(properties) ? properties : {})) {
    checkNode(found, each, `${path}.properties.${name}`, rules);
  }
  if (items !== undefined) checkNode(found, items, `${path}.items`, rules);
  for (const choice of [anyOf, allOf].flat()) {
    if (choice !== undefined) checkNode(found, choice, `${path}.anyOf`, rules);
  }
}

function checkObject(found: Violations, node: JsonObject, path: string, rules: SchemaRules): void {
  if (node["additionalProperties"] !== false) found.add(path, "open for more properties");
  const names = Object.keys(isJsonObject(node["properties"]) ? node["properties"] : {});
  const required: readonly unknown[] = Array.isArray(node["required"]) ? node["required"] : [];
  if (rules.required === true && names.some((name) => !required.includes(name))) {
    found.add(`${path}.required`, "lacks a property");
  }
}

/** True if the schema leads back to a reference through others. */
function reaches(root: JsonObject, node: Json, target: string, seen: Set<string>): boolean {
  if (Array.isArray(node)) return node.some((each: Json) => reaches(root, each, target, seen));
  if (!isJsonObject(node)) return false;
  const reference = node["$ref"];
  if (typeof reference === "string") {
    if (reference === target) return true;
    if (seen.has(reference)) return false;
    seen.add(reference);
    const [, key = "", name = ""] = reference.split("/");
    const named = root[key];
    return isJsonObject(named) && reaches(root, named[name] ?? null, target, seen);
  }
  return Object.entries(node).some(
    ([key, each]) => !["$defs", "definitions"].includes(key) && reaches(root, each, target, seen),
  );
}

/** A reply format as both OpenAI APIs have it: a name, a schema, and whether it is strict. */
export function checkNamedSchema(found: Violations, format: JsonObject, path: string): void {
  const { strict, schema } = format as Partial<JsonObject>;
  if (strict !== undefined && strict !== null && typeof strict !== "boolean") {
    found.add(`${path}.strict`, "neither true, false nor null");
  }
  if (strict === true) checkReplySchema(found, schema, `${path}.schema`, openaiStrict);
  else if (!isJsonObject(schema) || schema["type"] !== "object") {
    found.add(`${path}.schema`, "not an object's schema");
  } else {
    for (const key of ["oneOf", "anyOf", "allOf", "enum", "not"]) {
      if (Object.hasOwn(schema, key)) found.add(`${path}.schema.${key}`, "refused at the top");
    }
  }
}
