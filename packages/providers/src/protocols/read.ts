import { checkJson, isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";

// Readers for a vendor's JSON. A value of another type than expected counts as absent.

export function objectAt(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = object?.[key];
  return isJsonObject(value) ? value : undefined;
}

export function textAt(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === "string" ? value : undefined;
}

/** The text, or undefined if it is empty: some vendors send an empty string for none. */
export function filledAt(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function listAt(object: JsonObject | undefined, key: string): readonly Json[] {
  const value = object?.[key];
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** True if a part or an ending may contain the value: plain, well-formed, within the limits. */
export function isSound(value: Json): boolean {
  return checkJson(value) === undefined;
}

/** A token count; undefined for null, and `bad` for a value that is not a count. */
export function countAt(data: JsonObject, key: string): number | "bad" | undefined {
  const value = data[key];
  if (value === undefined || value === null) return undefined;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : "bad";
}

/** The given fields, without null and values that can't be stored as plain JSON. */
export function pick(data: JsonObject | undefined, keys: readonly string[]): JsonObject {
  const picked: Record<string, Json> = {};
  for (const key of data === undefined ? [] : keys) {
    const value = data?.[key];
    if (value !== undefined && value !== null && isSound(value)) picked[key] = value;
  }
  return picked;
}

/** The beginning of a text, for a message or evidence. */
export function excerpt(text: string): string {
  return text.slice(0, 1_000).toWellFormed();
}

/** The value at a path of keys, such as `reasoning.effort`. */
export function valueAt(fields: JsonObject, path: string): Json | undefined {
  return path
    .split(".")
    .reduce<Json | undefined>((at, key) => (isJsonObject(at) ? at[key] : undefined), fields);
}
