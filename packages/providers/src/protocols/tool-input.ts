import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { ToolDescription } from "@millrace/core/ports";
import { RequestRefusal } from "./refusal.ts";
import { ObjectViews, ownView } from "./object-view.ts";

/** A tool as a vendor takes it: with an object at the top of its schema. */
export interface DescribedTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly schema: JsonObject;
}

/** Keywords that OpenAI and Anthropic refuse at the top of a tool's schema. */
export const refusedAtTop: readonly string[] = ["oneOf", "anyOf", "allOf", "enum", "not"];

/** The longest description that all servers of OpenAI's APIs take. */
const longest = 1_024;

/**
 * Describes a tool. A schema with keywords that the vendor refuses at its top goes as one object with
 * the properties of all its variants. That object is wider than the schema, so the schema itself goes
 * along as text, to the letter: what the model is given has lost nothing, and the tool checks its
 * input by its own schema in any case. Throws a `RequestRefusal` if no object fits the schema,
 * because arguments are always an object.
 */
export function describeTool(
  { name, description, input, vendor }: ToolDescription,
  refused: readonly string[] = refusedAtTop,
): DescribedTool {
  if (vendor?.kind === "mcp_approval") throw new RequestRefusal(noApproval, { tool: name });
  const given = objectOf(input);
  const isPlain = !["$ref", "anyOf", "oneOf", ...refused].some((key) => Object.hasOwn(given, key));
  const view = isPlain ? ownView(given) : new ObjectViews(given).of(given);
  if (view === undefined) throw new RequestRefusal(noObject, { tool: name });
  if (!["$ref", ...refused].some((key) => Object.hasOwn(given, key))) {
    return { name, description, schema: { ...given, type: "object" } };
  }
  const schema = merged(given, view, refused);
  const note = `The arguments match this JSON Schema:\n${JSON.stringify(given)}`;
  const whole = joined(description, note);
  if (whole.length <= longest) return { name, description: whole, schema };
  const inside = joined(textOf(schema["description"]), note);
  return { name, description, schema: { ...schema, description: inside } };
}

const noApproval =
  "only OpenAI's Responses API asks for an approval of MCP calls, so no model of another API calls it; leave the tool out for this model";

const noObject =
  'its input schema fits no object, and arguments are always one; put the value under a property, as in { type: "object", properties: { value: … } }';

/** The schema with `properties`, which OpenAI's servers require. */
export function withProperties(schema: JsonObject): JsonObject {
  return Object.hasOwn(schema, "properties") ? schema : { ...schema, properties: {} };
}

/** A schema as an object: `true` and what is no schema fit everything. */
function objectOf(input: Json): JsonObject {
  if (input === false) return { not: {} };
  if (!isJsonObject(input)) return {};
  const { properties, ...rest } = input;
  return properties === undefined || isJsonObject(properties) ? input : rest;
}

function joined(...texts: readonly (string | undefined)[]): string {
  return texts.filter((text) => text !== undefined && text.trim() !== "").join("\n\n");
}

function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** The schema as one object without the refused keywords. References still lead where they led. */
function merged(
  given: JsonObject,
  { properties, required, closed }: NonNullable<ReturnType<ObjectViews["of"]>>,
  refused: readonly string[],
): JsonObject {
  const replaced = [...refused, "$ref", "type", "properties", "required", "additionalProperties"];
  const kept = Object.entries(given).filter(([key]) => !replaced.includes(key));
  const schema: JsonObject = {
    ...Object.fromEntries(kept),
    type: "object",
    properties: Object.fromEntries(properties),
    ...(required.size === 0 ? {} : { required: [...required] }),
    ...(closed ? { additionalProperties: false } : {}),
  };
  const paths = new Set<string>();
  const moved = movedReferences(schema, paths);
  if (paths.size === 0 || !isJsonObject(moved)) return schema;
  const { $defs: _, definitions: __, ...whole } = given;
  const definitions = isJsonObject(moved["$defs"]) ? moved["$defs"] : {};
  return { ...moved, $defs: { ...definitions, [wholeInput]: movedReferences(whole, paths) } };
}

/** The definition that stands for the schema before it was merged. */
const wholeInput = "__input";

/** The node with references to places outside of the definitions turned to `wholeInput`. */
function movedReferences(node: Json, paths: Set<string>): Json {
  if (Array.isArray(node)) return node.map((each: Json) => movedReferences(each, paths));
  if (!isJsonObject(node)) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => {
      const isPath = key === "$ref" && typeof value === "string" && outside.test(value);
      if (!isPath) return [key, movedReferences(value, paths)];
      paths.add(value);
      return [key, `#/$defs/${wholeInput}${value.slice(1)}`];
    }),
  );
}

const outside = /^#(?!\/(?:\$defs|definitions)\/)(?:\/|$)/;
