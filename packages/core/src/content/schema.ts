import type { Json } from "../json.ts";
import { parseJsonText } from "../parse-json.ts";
import { parseJson } from "../scan-json.ts";
import type { ParsedJson } from "../scan-json.ts";

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

/** One thing that is wrong with a value, and where. */
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

/** The type of a run's output: what the schema makes of the answer, or a string without a schema. */
export type OutputFor<S> = S extends Schema ? SchemaOutput<S> : string;

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
  let sent = textOf(jsonSchemaOf(schema), isSafeBound);
  try {
    const closed = jsonSchemaOf(schema, "output");
    if (textOf(closed, isClosing) === textOf(jsonSchemaOf(schema), isClosing)) {
      sent = textOf(closed, isSafeBound);
    }
  } catch {
    // What a transformation makes of a value has no JSON Schema, and asking for it throws.
  }
  return parseJsonText(sent) as Json; // of our own text
}

/** The text of a schema without the fields that are picked. */
function textOf(schema: Json, isLeftOut: (key: string, value: unknown) => boolean): string {
  return JSON.stringify(schema, (key, value: unknown) =>
    isLeftOut(key, value) ? undefined : value,
  );
}

function isClosing(key: string, value: unknown): boolean {
  return key === "additionalProperties" && value === false;
}

/** zod bounds every integer by what a number can hold: no news to a model, and a range to vendors that refuse those. */
function isSafeBound(key: string, value: unknown): boolean {
  if (key === "minimum") return value === Number.MIN_SAFE_INTEGER;
  return key === "maximum" && value === Number.MAX_SAFE_INTEGER;
}

/** A model's answer as JSON. Models without a JSON mode often put a Markdown code fence around it. */
export function parseAnswer(text: string): ParsedJson {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text);
  return parseJson(fenced?.[1] ?? text);
}

/** One line for each issue, with its place, for a model to mend its call by. */
export function describeIssues(issues: readonly Issue[]): string {
  return issues.map(({ message, path = [] }) => `${pathText(path)}: ${message}`).join("\n");
}

function pathText(path: NonNullable<Issue["path"]>): string {
  if (path.length === 0) return "(the whole)";
  return path
    .map((step) => String(typeof step === "object" && step !== null ? step.key : step))
    .join(".");
}
