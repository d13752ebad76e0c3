import { checkJson, encodeBase64, parseJsonText } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";

/**
 * A value of another framework. Read field by field, because its types change between versions.
 */
export type Fields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

export function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [];
}

/**
 * Converts a value to plain JSON within the limits, or undefined. Drops what JSON drops, replaces
 * lone surrogates and encodes bytes as base64. A cycle or a bigint gives undefined.
 */
export function plain(value: unknown): Json | undefined {
  try {
    // `stringify` returns undefined for undefined and functions, which the library's types leave
    // out.
    const text = JSON.stringify(value, plainer) as string | undefined;
    if (text === undefined) return undefined;
    const copy = parseJsonText(text) as Json;
    return checkJson(copy) === undefined ? copy : undefined;
  } catch {
    return undefined;
  }
}

/** As `plain`, but undefined for anything that is not an object. */
export function plainObject(value: unknown): JsonObject | undefined {
  const copy = plain(value);
  return typeof copy === "object" && copy !== null && !Array.isArray(copy)
    ? (copy as JsonObject)
    : undefined;
}

/** Encodes bytes before their `toJSON` writes them as a list of numbers. */
function plainer(this: unknown, key: string, value: unknown): unknown {
  const own = fieldsOf(this)[key];
  if (own instanceof Uint8Array) return encodeBase64(own);
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** A token count, or undefined if the value is not one. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
