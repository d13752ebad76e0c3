import { checkJson, isJsonObject, parseJson } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";

/** The violations that a vendor would refuse, each with its path in the body. */
export class Violations {
  readonly list: string[] = [];

  add(path: string, message: string): void {
    this.list.push(`${path}: ${message}`);
  }
}

/** The keys that an object may have. Other keys are refused. */
export type Shape = Readonly<Record<string, "required" | "optional">>;

/** A shape from the names of its keys, with white space between them. */
export function shape(required: string, optional = ""): Shape {
  return Object.fromEntries([
    ...words(required).map((key) => [key, "required"] as const),
    ...words(optional).map((key) => [key, "optional"] as const),
  ]);
}

/** The words of a text, split at white space. */
export function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((key) => key !== "");
}

/** True for a body that survives serialisation as JSON: nothing undefined, no lone surrogates. */
export function checkBody(found: Violations, body: unknown): body is JsonObject {
  const fault = checkJson(body);
  if (fault !== undefined) found.add("$", `not JSON: ${fault.code} ${fault.key ?? ""}`);
  else if (!isJsonObject(body)) found.add("$", "not an object");
  return found.list.length === 0;
}

export function checkShape(
  found: Violations,
  value: Json | undefined,
  path: string,
  allowed: Shape,
): value is JsonObject {
  if (!isJsonObject(value)) {
    found.add(path, "not an object");
    return false;
  }
  for (const key of Object.keys(value)) {
    if (!Object.hasOwn(allowed, key)) found.add(`${path}.${key}`, "extra key");
  }
  for (const key of Object.keys(allowed)) {
    if (allowed[key] === "required" && !Object.hasOwn(value, key)) {
      found.add(`${path}.${key}`, "missing");
    }
  }
  return true;
}

export interface TextRule {
  readonly max?: number;
  readonly pattern?: RegExp;
  readonly empty?: "allowed";
}

const anyText: TextRule = {};

export function checkText(
  found: Violations,
  value: Json | undefined,
  path: string,
  rule: TextRule = anyText,
): value is string {
  if (typeof value !== "string") {
    found.add(path, "not a string");
    return false;
  }
  if (value === "" && rule.empty === undefined) found.add(path, "empty");
  if (rule.max !== undefined && value.length > rule.max) found.add(path, `over ${rule.max} long`);
  if (rule.pattern !== undefined && !rule.pattern.test(value)) {
    found.add(path, `does not match ${rule.pattern.source}`);
  }
  return true;
}

export function checkOneOf(
  found: Violations,
  value: Json | undefined,
  path: string,
  allowed: readonly string[],
): value is string {
  if (typeof value === "string" && allowed.includes(value)) return true;
  found.add(path, `not one of ${allowed.join(", ")}`);
  return false;
}

/** A list that is not empty. */
export function checkList(
  found: Violations,
  value: Json | undefined,
  path: string,
): value is readonly Json[] {
  if (!Array.isArray(value)) found.add(path, "not an array");
  else if (value.length === 0) found.add(path, "empty array");
  else return true;
  return false;
}

export function checkUnique(
  found: Violations,
  seen: Set<string>,
  value: string,
  path: string,
): void {
  if (seen.has(value)) found.add(path, `duplicate ${value}`);
  seen.add(value);
}

const base64Letters = /^[A-Za-z0-9+/]+={0,2}$/;

export function checkBase64(found: Violations, value: Json | undefined, path: string): void {
  if (typeof value !== "string") found.add(path, "not a string");
  else if (value === "") found.add(path, "empty");
  else if (value.length % 4 !== 0 || !base64Letters.test(value)) found.add(path, "not base64");
}

const dataUrl = /^data:([^;,]+);base64,(.*)$/s;

/** A web address, or a data URL of an allowed media type. */
export function checkAddress(
  found: Violations,
  value: Json | undefined,
  path: string,
  mediaTypes: readonly string[],
): void {
  if (!checkText(found, value, path)) return;
  const [, mediaType, data] = dataUrl.exec(value) ?? [];
  if (mediaType !== undefined) {
    if (!mediaTypes.includes(mediaType)) found.add(path, `media type ${mediaType} is not taken`);
    checkBase64(found, data, path);
  } else if (!/^https?:\/\/\S+$/.test(value)) found.add(path, "not an address");
}

/** Arguments as text. Servers that imitate a vendor parse them, so they must be an object. */
export function checkArguments(found: Violations, value: Json | undefined, path: string): void {
  if (typeof value !== "string") {
    found.add(path, "not a string");
    return;
  }
  if (soundArguments.has(value)) return;
  const parsed = parseJson(value);
  if (!parsed.ok || !isJsonObject(parsed.value)) found.add(path, "not the JSON of an object");
  else if (soundArguments.size < 10_000) soundArguments.add(value);
}

/** A cache: parsing is slow, and the same arguments occur often. */
const soundArguments = new Set<string>();

/** What vendors require of the top of a tool's schema. */
export function checkToolSchema(
  found: Violations,
  value: Json | undefined,
  path: string,
  rule: { readonly properties: "required" | "optional"; readonly choices?: "allowed" },
): void {
  if (!isJsonObject(value)) {
    found.add(path, "not an object");
    return;
  }
  if (value["type"] !== "object") found.add(`${path}.type`, "is not object");
  for (const key of ["oneOf", "anyOf", "allOf", "not", "enum"]) {
    if (rule.choices === undefined && Object.hasOwn(value, key)) {
      found.add(`${path}.${key}`, "not taken at the top level");
    }
  }
  if (value["properties"] === undefined) {
    if (rule.properties === "required") found.add(`${path}.properties`, "missing");
  } else if (!isJsonObject(value["properties"])) found.add(`${path}.properties`, "not an object");
}

/** Names of calls and of declared tools, for vendors that take letters, digits, "_" and "-". */
export const functionName: TextRule = { pattern: /^[a-zA-Z0-9_-]{1,64}$/ };

/** A string unchanged, anything else as the empty one: for values that were checked before. */
export function word(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
