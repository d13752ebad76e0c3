import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { OutputShape } from "@millrace/core/ports";
import { keepsTo, subset } from "../schema.ts";
import type { Subset } from "../schema.ts";
import { claudeVersion } from "./models.ts";

/**
 * The vendor's fields for the shape of a reply; it takes no name. Empty for models without the
 * feature or of other vendors, for schemas that the vendor refuses, and if the settings contain a
 * format.
 */
export function outputFields(
  { schema }: OutputShape,
  settings: JsonObject,
  model: string,
): JsonObject | undefined {
  const { output_config: given, output_format: former } = settings as Partial<JsonObject>;
  const config = isJsonObject(given) ? given : {};
  if (former !== undefined || config["format"] !== undefined) return undefined;
  if (!hasFormats(model) || !keepsTo(schema, formatSubset)) return undefined;
  return { output_config: { ...config, format: { type: "json_schema", schema } } };
}

export function hasFormats(model: string): boolean {
  return (claudeVersion(model) ?? 0) >= 405;
}

/** The vendor limits the number of optional properties in a schema. */
export const formatSubset: Subset = subset("allOf default", "uri", {
  optional: 10,
  recursive: false,
  minItems: 1,
});
