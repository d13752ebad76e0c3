import { createHash } from "node:crypto";
import { isJsonObject, parseJsonText } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { refuse } from "./refusal.ts";

/** The body of a request, which must be a JSON object. */
export function readObject(body: string): JsonObject {
  let value: unknown;
  try {
    value = parseJsonText(body);
  } catch {
    value = undefined;
  }
  return isJsonObject(value) ? value : refuse("The request body is not valid JSON.");
}

export function objectAt(from: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = from?.[key];
  return isJsonObject(value) ? value : undefined;
}

export function textAt(from: JsonObject | undefined, key: string): string | undefined {
  const value = from?.[key];
  return typeof value === "string" ? value : undefined;
}

export function listAt(from: JsonObject | undefined, key: string): readonly Json[] {
  const value = from?.[key];
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** The objects in a list. Anything else in it is left out. */
export function objectsAt(from: JsonObject | undefined, key: string): readonly JsonObject[] {
  return listAt(from, key).filter(isJsonObject);
}

/** An object without some of its keys, at its top level only. */
export function without(from: JsonObject, ...keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !keys.includes(key)));
}

/** The same text for equal values: the order of keys doesn't count. Leaves out `omitted` keys at any depth. */
export function canonical(value: Json, omitted?: string): string {
  if (Array.isArray(value)) {
    return `[${(value as readonly Json[]).map((each) => canonical(each, omitted)).join(",")}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = Object.keys(value)
    .filter((key) => key !== omitted)
    .toSorted()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key] ?? null, omitted)}`);
  return `{${fields.join(",")}}`;
}

/** A short SHA-256: 132 of its bits, so that signatures stay readable in logs. */
export function digest(text: string): string {
  return createHash("sha256").update(text).digest("base64url").slice(0, 22);
}

/** The tokens of a text. Vendors differ; four characters each is close enough to compare caches. */
export function tokensOf(text: string): number {
  return Math.ceil(text.length / 4);
}
