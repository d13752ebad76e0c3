import { checkJson, encodeBase64, parseJsonText } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";

/** A value of another framework, looked into field by field: its types change with its versions. */
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
 * The value as plain JSON within our limits, or nothing. What JSON leaves out is left out, half
 * characters are replaced, bytes become base64. A cycle or a bigint is nothing.
 */
export function plain(value: unknown): Json | undefined {
  try {
    // Undefined for undefined and for functions, whatever the library's types say.
    const text = JSON.stringify(value, plainer) as string | undefined;
    if (text === undefined) return undefined;
    const copy = parseJsonText(text) as Json;
    return checkJson(copy) === undefined ? copy : undefined;
  } catch {
    return undefined;
  }
}

/** As `plain`, for what has to be an object to be of use. */
export function plainObject(value: unknown): JsonObject | undefined {
  const copy = plain(value);
  return typeof copy === "object" && copy !== null && !Array.isArray(copy)
    ? (copy as JsonObject)
    : undefined;
}

/** Gets bytes before their own `toJSON` does, which writes them as a list of numbers. */
function plainer(this: unknown, key: string, value: unknown): unknown {
  const own = fieldsOf(this)[key];
  if (own instanceof Uint8Array) return encodeBase64(own);
  return typeof value === "string" ? value.toWellFormed() : value;
}

/** A count of tokens, or nothing if it can't be one. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
