import type { JsonObject } from "@millrace/core";
import type { OutputShape } from "@millrace/core/ports";
import { formatSubset, hasFormats } from "../anthropic-messages/output.ts";
import { objectAt } from "../read.ts";
import { keepsTo } from "../schema.ts";

/**
 * The vendor's fields for the shape of a reply. The schema goes as text. Empty for models that are not
 * known to take it, for schemas that they refuse, and if the settings have a format.
 */
export function outputFields(
  { name, schema }: OutputShape,
  settings: JsonObject,
  model: string,
): JsonObject | undefined {
  const given = objectAt(settings, "outputConfig");
  if (given?.["textFormat"] !== undefined) return undefined;
  if (!hasFormats(model) || !keepsTo(schema, formatSubset)) return undefined;
  const structure = { jsonSchema: { schema: JSON.stringify(schema), name } };
  return { outputConfig: { ...given, textFormat: { type: "json_schema", structure } } };
}
