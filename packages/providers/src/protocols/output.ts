import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { ModelRequest, OutputShape } from "@millrace/core/ports";
import { keepsTo, subset } from "./schema.ts";
import type { Subset } from "./schema.ts";
import { refusedAtTop } from "./tool-input.ts";

/** How a request asks for the shape of its reply. */
export interface Asked {
  readonly instructions: string | undefined;
  /** The vendor's fields. Empty if the instructions describe the shape, or none is asked for. */
  readonly fields: JsonObject;
}

/**
 * Asks for the shape of a reply by the vendor's fields, or, if `fieldsOf` returns none, at the end
 * of the instructions. The one rule for every case that a vendor can't handle: a model without the
 * feature, a schema that it would refuse, or a format in the settings. Instructions guarantee
 * nothing, and fields mostly do; either way the schema is sent unchanged.
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

/** The instructions, followed by the description of a shape. */
function inWords(instructions: string | undefined, { name, schema }: OutputShape): string {
  const description = [
    "Your answer is one JSON value and nothing else: no other words, no code fence.",
    `It has the shape ${JSON.stringify(name)}, by this JSON Schema:`,
    JSON.stringify(schema),
  ].join("\n");
  return instructions === undefined || instructions.trim() === ""
    ? description
    : `${instructions}\n\n${description}`;
}

/**
 * The format field of both OpenAI APIs. `strict` only for schemas that already comply: the vendor
 * refuses others with it, and treats them as advice without it. Undefined for a schema that is not
 * an object's, which the vendor always refuses, and for models without the feature.
 */
export function openaiFormat({ name, schema }: OutputShape, model: string): JsonObject | undefined {
  if (formerModel.test(model) || !isJsonObject(schema) || schema["type"] !== "object") {
    return undefined;
  }
  if (refusedAtTop.some((key) => Object.hasOwn(schema, key))) return undefined;
  return { name, schema, strict: keepsTo(schema, strictSubset) };
}

const formerModel =
  /^(?:.*\/)?(?:ft:)?(?:gpt-3|gpt-4(?![.o])|gpt-4o-2024-05-13|chatgpt-4o|o1-mini|o1-preview)/;

const strictSubset: Subset = subset(
  "exclusiveMaximum exclusiveMinimum maximum maxItems minimum multipleOf pattern",
  "",
  { optional: 0, recursive: true, minItems: Number.POSITIVE_INFINITY },
);
