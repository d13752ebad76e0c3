import { checkJson, isJsonObject } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";

// How protocols look at a vendor's JSON: what has another type than expected counts as not there.

export function objectAt(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = object?.[key];
  return isJsonObject(value) ? value : undefined;
}

export function textAt(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === "string" ? value : undefined;
}

/** Text that says something: some vendors send an empty one for nothing. */
export function filledAt(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function listAt(object: JsonObject | undefined, key: string): readonly Json[] {
  const value = object?.[key];
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** Whether a value can stand in a part or an ending: plain, well-formed, within the limits. */
export function isSound(value: Json): boolean {
  return checkJson(value) === undefined;
}
