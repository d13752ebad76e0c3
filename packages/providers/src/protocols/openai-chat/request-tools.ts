import { isJsonObject } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { listOf, objectOf } from "./events.ts";

/**
 * Converts tools to functions. The vendor refuses duplicate names, so the first of each is sent.
 */
export function toolsOf(tools: readonly ToolDescription[]): readonly JsonObject[] {
  const names = new Set<string>();
  return tools.flatMap(({ name, description, input }) => {
    if (names.has(name)) return [];
    names.add(name);
    const described = description === undefined || description === "" ? {} : { description };
    const body = { name, ...described, parameters: objectSchema(input) };
    return [{ type: "function", function: body }];
  });
}

const unions = ["anyOf", "oneOf", "allOf"];

/**
 * The schema in the form that the vendor takes: an object with properties, and no union at its top.
 * A union becomes one object with the properties of all variants; the tool validates its input.
 */
function objectSchema(schema: Json): JsonObject {
  if (!isJsonObject(schema)) return { type: "object", properties: {} };
  const branches = unions.flatMap((name) => listOf(schema[name]));
  const rest = Object.fromEntries(
    Object.entries(schema).filter(([key]) => ![...unions, "not", "enum"].includes(key)),
  );
  const isObject = schema["type"] === "object" || schema["type"] === undefined;
  if (!isObject) return { type: "object", properties: {} };
  const properties = [...branches.toReversed(), schema].map((branch) =>
    isJsonObject(branch) ? objectOf(branch["properties"]) : undefined,
  );
  return { ...rest, type: "object", properties: Object.assign({}, ...properties) as JsonObject };
}
