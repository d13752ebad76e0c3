import { checkJson, isJsonObject } from "@millrace/core";
import type { Json, JsonObject } from "@millrace/core";

/** The text under a key. What is not text counts as not there. */
export function textAt(data: JsonObject, key: string): string | undefined {
  const value = data[key];
  return typeof value === "string" ? value : undefined;
}

export function objectAt(data: JsonObject, key: string): JsonObject | undefined {
  const value = data[key];
  return isJsonObject(value) ? value : undefined;
}

export function listAt(data: JsonObject, key: string): readonly Json[] {
  const value = data[key];
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

/** The place of a block. Servers that imitate the vendor leave it out. */
export function indexOf(data: JsonObject): number | undefined {
  const value = data["index"];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** A count of tokens; nothing for null, and `bad` for what can't be one. */
export function countAt(data: JsonObject, key: string): number | "bad" | undefined {
  const value = data[key];
  if (value === undefined || value === null) return undefined;
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : "bad";
}

/** The fields of these names that say something and can be kept as plain JSON. */
export function pick(data: JsonObject | undefined, keys: readonly string[]): JsonObject {
  const picked: Record<string, Json> = {};
  for (const key of data === undefined ? [] : keys) {
    const value = data?.[key];
    if (value !== undefined && value !== null && isSound(value)) picked[key] = value;
  }
  return picked;
}

/** Whether a value of the vendor can stand in a part: plain JSON within the limits. */
export function isSound(value: Json): boolean {
  return checkJson(value) === undefined;
}

/** As much of a text as a message or evidence needs. */
export function excerpt(text: string): string {
  return text.slice(0, 1_000).toWellFormed();
}

/** White space to the vendor, but not to `trim`. */
const otherSpace: ReadonlySet<string> = new Set(["\u001c", "\u001d", "\u001e", "\u001f", "\u0085"]);

/** True for text that the vendor takes for empty. */
export function isBlank(text: string): boolean {
  return withoutLastSpace(text) === "";
}

export function withoutLastSpace(text: string): string {
  let rest = text.trimEnd();
  while (otherSpace.has(rest.slice(-1))) rest = rest.slice(0, -1).trimEnd();
  return rest;
}
