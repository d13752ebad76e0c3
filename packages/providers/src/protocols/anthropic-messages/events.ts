import type { Json, JsonObject } from "@millrace/core";
import { isSound } from "../read.ts";

/** The index of a block. Servers that imitate the vendor leave it out. */
export function indexOf(data: JsonObject): number | undefined {
  const value = data["index"];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
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

/** Characters that are white space for the vendor, but not for `trim`. */
const otherSpace: ReadonlySet<string> = new Set(["\u001c", "\u001d", "\u001e", "\u001f", "\u0085"]);

/** True for text that the vendor treats as empty. */
export function isBlank(text: string): boolean {
  return withoutLastSpace(text) === "";
}

export function withoutLastSpace(text: string): string {
  let rest = text.trimEnd();
  while (otherSpace.has(rest.slice(-1))) rest = rest.slice(0, -1).trimEnd();
  return rest;
}
