import type { Json, JsonObject } from "@millrace/core";
import { isJsonObject } from "@millrace/core/wire";
import { refused } from "./refused.ts";

/** The form that a request asks its answer to have. */
export interface AnswerFormat {
  /** As the request has it, to be shown again. */
  readonly format: JsonObject;
  readonly schema: JsonObject;
}

/** The `text` of a request for a response. Undefined: any text will do. */
export function textFormat(text: Json | undefined): AnswerFormat | undefined {
  if (text === undefined || text === null) return undefined;
  const { format, ...others } = isJsonObject(text) ? text : { "": text };
  refuseOthers(others, "/text");
  return formatOf(format, (given) => given, "/text/format");
}

/** The `response_format` of a request for a completion. */
export function responseFormat(given: Json | undefined): AnswerFormat | undefined {
  const inner = (format: JsonObject): Json | undefined => format["json_schema"];
  return formatOf(given, inner, "/response_format");
}

function formatOf(
  given: Json | undefined,
  inner: (format: JsonObject) => Json | undefined,
  pointer: string,
): AnswerFormat | undefined {
  if (given === undefined || given === null) return undefined;
  const type = isJsonObject(given) ? given["type"] : undefined;
  if (type === "text") return undefined;
  const described = isJsonObject(given) ? inner(given) : undefined;
  if (type !== "json_schema" || !isJsonObject(described))
    throw refused("an answer is text, or has the form of a json_schema", pointer);
  const { type: _, name, strict, schema, ...others } = described;
  refuseOthers(others, pointer);
  if (typeof name !== "string" || !isJsonObject(schema))
    throw refused("a json_schema has a name and a schema", pointer);
  if (strict === false) throw refused("the schema is always kept to: leave strict out", pointer);
  return { format: { type, name, schema, strict: true }, schema };
}

function refuseOthers(others: JsonObject, pointer: string): void {
  const [name] = Object.entries(others).flatMap(([each, value]) => (value === null ? [] : [each]));
  if (name === undefined) return;
  throw refused(`${name.slice(0, 64)}: the agent decides it, leave it out`, `${pointer}/${name}`);
}
