import { equalJson, isJsonObject } from "@millrace/core/wire";
import type { Json } from "@millrace/core";

/**
 * Standard Schema with its JSON Schema half, by structure: zod 4.2 and later, arktype, valibot through
 * its converter, or `fromJsonSchema` of `@millrace/agent/json-schema`. The first half checks a value,
 * the second is what a model is sent.
 */
export interface Schema<In = unknown, Out = In> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => Checked<Out> | Promise<Checked<Out>>;
    readonly jsonSchema: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output: (options: { readonly target: string }) => Record<string, unknown>;
    };
    readonly types?: { readonly input: In; readonly output: Out } | undefined;
  };
}

/** The value as the schema sees it, or what is wrong with it. */
export type Checked<Out> =
  | { readonly value: Out; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] };

export interface Issue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** What a schema accepts. */
export type SchemaInput<S> = S extends {
  readonly "~standard": { readonly types?: { readonly input: infer In } | undefined };
}
  ? In
  : unknown;

/** What a schema makes of a value that it accepts. */
export type SchemaOutput<S> = S extends {
  readonly "~standard": { readonly types?: { readonly output: infer Out } | undefined };
}
  ? Out
  : unknown;

/** The JSON Schema of what goes into a schema. */
export function jsonSchemaOf(schema: Schema, half: "input" | "output" = "input"): Json {
  const converted = schema["~standard"].jsonSchema[half]({ target: "draft-2020-12" });
  // The name of the dialect is noise to a model, and some vendors refuse it.
  const { $schema: _, ...rest } = converted;
  return rest as Json; // a JSON Schema is JSON by definition
}

/**
 * The JSON Schema of an answer, which a model writes and a schema then reads, so it is what goes in.
 * Vendors enforce a schema only for closed objects, and zod closes objects only in the output half:
 * where the halves differ in nothing else, the closed one is sent.
 */
export function answerSchemaOf(schema: Schema): Json {
  const sent = jsonSchemaOf(schema);
  const closed = outputHalfOf(schema);
  const same = closed !== undefined && equalJson(mapNodes(sent, opened), mapNodes(closed, opened));
  return mapNodes(same ? closed : sent, withoutSafeBounds);
}

/** What a transformation makes of a value has no JSON Schema, and asking for it throws. */
function outputHalfOf(schema: Schema): Json | undefined {
  try {
    return jsonSchemaOf(schema, "output");
  } catch {
    return undefined;
  }
}

function mapNodes(node: Json, change: (node: JsonNode) => JsonNode): Json {
  if (Array.isArray(node)) return node.map((each: Json) => mapNodes(each, change));
  if (!isJsonObject(node)) return node;
  const entries = Object.entries(change(node));
  return Object.fromEntries(entries.map(([key, value]) => [key, mapNodes(value, change)]));
}

type JsonNode = Readonly<Record<string, Json>>;

function opened(node: JsonNode): JsonNode {
  const { additionalProperties, ...rest } = node;
  return additionalProperties === false ? rest : node;
}

/** zod bounds every integer by what a number can hold: no news to a model, and a range to vendors that refuse those. */
function withoutSafeBounds(node: JsonNode): JsonNode {
  const { minimum, maximum, ...rest } = node;
  if (node["type"] !== "integer") return node;
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}

/** One line for each issue, with its place, for a model to mend its call by. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map(({ message, path = [] }) => `${placeOf(path)}: ${message}`).join("\n");
}

function placeOf(path: NonNullable<Issue["path"]>): string {
  if (path.length === 0) return "(the whole)";
  return path
    .map((step) => String(typeof step === "object" && step !== null ? step.key : step))
    .join(".");
}
