import { checkJson, isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { filledAt } from "../read.ts";

/** Readers for a vendor's JSON. A value of another type than expected counts as absent. */

/** The type of an event or item, or an empty string. */
export function typeOf(from: JsonObject): string {
  const type = from["type"];
  return typeof type === "string" ? type : "";
}

/** The objects in a list. Other elements are skipped. */
export function objectsField(from: JsonObject | undefined, key: string): readonly JsonObject[] {
  const value = from?.[key];
  return Array.isArray(value) ? value.filter((entry) => isJsonObject(entry)) : [];
}

/** A safe integer from zero on. */
export function countField(from: JsonObject | undefined, key: string): number | undefined {
  const value = from?.[key];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The entries that are not undefined, in a new object. */
export function present(
  entries: Readonly<Record<string, Json | undefined>>,
): Readonly<Record<string, Json>> {
  const kept: Record<string, Json> = {};
  for (const [key, value] of Object.entries(entries)) if (value !== undefined) kept[key] = value;
  return kept;
}

/**
 * The value in a form that a part can store. Lone surrogates are replaced. A value that is too
 * large or too deep is replaced by its head and the reason, so that one bad item does not fail the
 * reply.
 */
export function keepable(value: JsonObject): JsonObject {
  const fault = checkJson(value);
  if (fault === undefined) return value;
  if (fault.code === "malformed_text") {
    const mended = mend(value);
    if (isJsonObject(mended) && checkJson(mended) === undefined) return mended;
  }
  return present({
    type: filledAt(value, "type")?.slice(0, 200).toWellFormed(),
    id: filledAt(value, "id")?.slice(0, 200).toWellFormed(),
    omitted: fault.code,
  });
}

function mend(value: Json, depth = 0): Json {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value !== "object" || value === null || depth > 64) return value;
  if (Array.isArray(value)) return value.map((entry: Json) => mend(entry, depth + 1));
  return Object.fromEntries(
    Object.entries(value).map(([key, entry]) => [key.toWellFormed(), mend(entry, depth + 1)]),
  );
}
