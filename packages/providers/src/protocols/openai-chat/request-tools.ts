import { isJsonObject } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { listOf, objectOf } from "./events.ts";

/** Tools as functions. Of two with one name the first counts: the vendor takes no name twice. */
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
 * The schema as the vendor takes it: of an object, with properties, and no choice between schemas at
 * its top. A choice becomes one object with the properties of all; the tool itself checks the rest.
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
