import { isJsonObject } from "@millrace/core/wire";
import type { JsonObject } from "@millrace/core";
import type { ModelRequest, OutputShape } from "@millrace/core/ports";
import { keepsTo, subset } from "./schema.ts";
import type { Subset } from "./schema.ts";

/** How a request asks for the shape of its reply. */
export interface Asked {
  readonly instructions: string | undefined;
  /** The vendor's own fields for it. Empty if it is asked for in words, or not at all. */
  readonly fields: JsonObject;
}

/**
 * Asks for the shape of a reply by the vendor's own fields, or, where `fieldsOf` has none, in words
 * at the end of the instructions. That is the one rule for all that a vendor can't do: a model
 * without the feature, a schema that it would refuse, a format that the settings name already.
 * Words are a wish, fields are mostly a promise; either way the schema is sent as it was given.
 */
export function askFor(
  { instructions, output }: ModelRequest,
  fieldsOf: (output: OutputShape) => JsonObject | undefined,
): Asked {
  if (output === undefined) return { instructions, fields: {} };
  const fields = fieldsOf(output);
  if (fields !== undefined) return { instructions, fields };
  return { instructions: inWords(instructions, output), fields: {} };
}

/** Instructions that end in the wish for a shape. */
function inWords(instructions: string | undefined, { name, schema }: OutputShape): string {
  const wish = [
    "Your answer is one JSON value and nothing else: no other words, no code fence.",
    `It has the shape ${JSON.stringify(name)}, by this JSON Schema:`,
    JSON.stringify(schema),
  ].join("\n");
  return instructions === undefined || instructions.trim() === ""
    ? wish
    : `${instructions}\n\n${wish}`;
}

/**
 * What both APIs of OpenAI take as a format. `strict` only for schemas that are so already: the vendor
 * refuses others, and otherwise takes them as advice. Nothing for a schema that is no object's, which
 * it refuses in any case, and for models that came before the feature.
 */
export function openAiFormat({ name, schema }: OutputShape, model: string): JsonObject | undefined {
  if (formerModel.test(model) || !isJsonObject(schema) || schema["type"] !== "object") {
    return undefined;
  }
  if (refusedAtTop.some((key) => Object.hasOwn(schema, key))) return undefined;
  return { name, schema, strict: keepsTo(schema, strictSubset) };
}

const formerModel =
  /^(?:.*\/)?(?:ft:)?(?:gpt-3|gpt-4(?![.o])|gpt-4o-2024-05-13|chatgpt-4o|o1-mini|o1-preview)/;

/** Keys that the vendor refuses at the top of a schema, for a tool or for a reply. */
export const refusedAtTop: readonly string[] = ["oneOf", "anyOf", "allOf", "enum", "not"];

const strictSubset: Subset = subset(
  "exclusiveMaximum exclusiveMinimum maximum maxItems minimum multipleOf pattern",
  "",
  { optional: 0, recursive: true, minItems: Number.POSITIVE_INFINITY },
);
