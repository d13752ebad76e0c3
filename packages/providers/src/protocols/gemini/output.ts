import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { OutputShape } from "@millrace/core/ports";
import { listAt, objectAt } from "../read.ts";

/**
 * The vendor's fields for the shape of a reply; it takes no name. `fields` are those of the request
 * so far. Empty for models without JSON Schema, for models before the third generation if there are
 * tools, and if the settings contain a format.
 */
export function outputFields(
  { schema }: OutputShape,
  fields: JsonObject,
  model: string,
): JsonObject | undefined {
  const config = objectAt(fields, "generationConfig") ?? {};
  if (Object.keys(config).some((key) => ownFormat.test(key))) return undefined;
  if (!(listAt(fields, "tools").length > 0 ? third : second).test(model)) return undefined;
  if (!isJsonObject(schema) || !hasPlainReferences(schema)) return undefined;
  const format = { responseMimeType: "application/json", responseJsonSchema: schema };
  return { generationConfig: { ...config, ...format } };
}

const ownFormat = /^_?response_?(?:mime|schema|json|format)/i;

/** From 2.5 on. A name without a number refers to the newest model. */
const second = /(?:^|\/)gemini-(?!1(?:[.-]|$)|2(?:\.[0-4]|-|$))/;
const third = /(?:^|\/)gemini-(?![12](?:[.-]|$))/;

/**
 * True if no reference has sibling keywords. The vendor ignores unknown keywords, but refuses
 * those.
 */
function hasPlainReferences(schema: Json): boolean {
  if (Array.isArray(schema)) return (schema as readonly Json[]).every(hasPlainReferences);
  if (!isJsonObject(schema)) return true;
  const isReference = typeof schema["$ref"] === "string";
  if (isReference && !Object.keys(schema).every((key) => key.startsWith("$"))) return false;
  return Object.values(schema).every(hasPlainReferences);
}
