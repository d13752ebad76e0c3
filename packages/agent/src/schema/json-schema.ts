import { MillraceError } from "@millrace/core";
import { checkJson, isJsonObject } from "@millrace/core/wire";
import type { JsonObject } from "@millrace/core";
import type { JsonLimits } from "@millrace/core/wire";
import { Ajv } from "ajv";
import type { ErrorObject, Options, ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Issue, Schema } from "@millrace/core/schema";

/** What a format accepts. */
export type FormatCheck = RegExp | ((text: string) => boolean);

/** Options of `fromJsonSchema`. */
export interface JsonSchemaOptions {
  /** Checks for formats by name. A format that is not among them is not looked at. */
  readonly formats?: Readonly<Record<string, FormatCheck>> | undefined;
}

/** Schemas may come from a foreign server, and compiling one takes time and memory. */
const schemaLimits: JsonLimits = { depth: 64, keys: 1_000, length: 256 * 1024 };
/** Of larger values only the first mistake is reported: a list of a million could have a million. */
const allMistakes: JsonLimits = { depth: 64, keys: 1_000, length: 16 * 1024 };
const allowedLength = 200;

/**
 * A schema from a JSON Schema, checked by ajv, which has to be installed: draft 2020-12, or draft 7
 * where `$schema` names it. References reach no further than the schema itself; values are neither
 * changed nor filled with defaults. Throws `invalid_definition` for a schema that is not one. ajv
 * compiles a schema to code with `new Function`, so it does not work where that is forbidden; a
 * `pattern` is a regular expression that runs on the model's text, so take schemas only from servers
 * that may take your time.
 */
export function fromJsonSchema(
  schema: JsonObject,
  options: JsonSchemaOptions = {},
): Schema<Record<string, unknown>, Record<string, unknown>> {
  const fault = checkJson(schema, schemaLimits);
  if (fault !== undefined || !isJsonObject(schema)) {
    throw invalid(`it is no JSON object of a sane size (${fault?.code ?? typeof schema})`);
  }
  const { $schema: dialect, ...own } = structuredClone(schema);
  const first = compile(own, dialect, options, false);
  let every: ValidateFunction | undefined;
  const issuesOf = (value: unknown): readonly Issue[] => {
    if (first(value)) return isJsonObject(value) ? [] : [{ message: "must be object" }];
    if (checkJson(value, allMistakes) !== undefined) return (first.errors ?? []).map(issueOf);
    every ??= compile(own, dialect, options, true);
    every(value);
    return (every.errors ?? []).map(issueOf);
  };
  const ownSchema = (): Record<string, unknown> => structuredClone(own);
  return {
    "~standard": {
      version: 1,
      vendor: "millrace",
      validate: (value) => {
        const issues = issuesOf(value);
        // Without an issue it is an object, as was just looked at.
        return issues.length === 0 ? { value: value as Record<string, unknown> } : { issues };
      },
      jsonSchema: { input: ownSchema, output: ownSchema },
    },
  };
}

type Dialect = typeof Ajv | typeof Ajv2020;

/** Checks schemas themselves. Made once for each dialect, since it costs more than all the rest. */
const metaCheckers = new Map<Dialect, Ajv>();

function compile(
  schema: JsonObject,
  dialect: unknown,
  { formats }: JsonSchemaOptions,
  allErrors: boolean,
): ValidateFunction {
  const Dialect = typeof dialect === "string" && /draft-0[67]/.test(dialect) ? Ajv : Ajv2020;
  // It would be checked in a promise, and a promise is true whatever comes of it.
  if ("$async" in schema) throw invalid("$async is not JSON Schema");
  try {
    checkSchema(Dialect, schema);
    const settings: Options = {
      strict: false,
      logger: false,
      meta: false,
      validateSchema: false,
      // Inherited names such as `constructor` are not fields of a value.
      ownProperties: true,
      allErrors,
      validateFormats: formats !== undefined,
      ...(formats === undefined ? {} : { formats: { ...formats } }),
    };
    return new Dialect(settings).compile(schema);
  } catch (error) {
    if (MillraceError.is(error)) throw error;
    throw invalid(error instanceof Error ? error.message : String(error), error);
  }
}

function checkSchema(Dialect: Dialect, schema: JsonObject): void {
  let checker = metaCheckers.get(Dialect);
  if (checker === undefined) {
    checker = new Dialect({ strict: false, logger: false, validateFormats: false });
    metaCheckers.set(Dialect, checker);
  }
  if (checker.validateSchema(schema) === true) return;
  throw invalid(checker.errorsText(checker.errors, { dataVar: "schema" }));
}

function invalid(reason: string, cause?: unknown): MillraceError {
  return new MillraceError("invalid_definition", `not a usable JSON Schema: ${reason}`, { cause });
}

/** An error of ajv, with the name of the field that it is about and what would be right. */
function issueOf({ instancePath, message = "is not valid", params }: ErrorObject): Issue {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
  // The parameters of ajv's keywords; each keyword has its own, all of plain data.
  const about = params as Readonly<Record<string, unknown>>;
  const field =
    about["missingProperty"] ?? about["additionalProperty"] ?? about["unevaluatedProperty"];
  if (typeof field === "string") path.push(field);
  const allowed = about["allowedValues"] ?? about["allowedValue"];
  const hint = allowed === undefined ? "" : `: ${JSON.stringify(allowed).slice(0, allowedLength)}`;
  return { message: `${message}${hint}`, path };
}
