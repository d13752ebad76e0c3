import { isJsonObject } from "../json.ts";
import type { JsonFault, JsonFaultCode, JsonLimits, JsonObject } from "../json.ts";
import { parseJson } from "../scan-json.ts";

/** Why a call's arguments can't be used. The tool does not run; the fault is the call's answer. */
export interface ArgumentFault {
  readonly code: JsonFaultCode | "not_an_object" | "double_encoded";
  /** Where in the raw text, in UTF-16 units. */
  readonly at?: number;
  /** The key that it is about. */
  readonly key?: string;
}

/** Parsed arguments, or their fault: exactly the two shapes that a tool call has. */
export type ParsedArguments =
  | { readonly input: JsonObject; readonly fault?: never }
  | { readonly input?: never; readonly fault: ArgumentFault };

const whiteSpaceOnly = /^[ \t\r\n]*$/;

/**
 * Turns a call's whole argument text into its input. There is no lenient mode and no repair: what is
 * not exactly one JSON object within the limits is a fault. Empty text means no arguments, since
 * vendors send that for tools without any; a tool that needs some refuses `{}` by its own schema.
 */
export function parseArguments(raw: string, limits?: JsonLimits): ParsedArguments {
  if (whiteSpaceOnly.test(raw)) return { input: {} };
  const parsed = parseJson(raw, limits);
  if (!parsed.ok) return { fault: parsed.fault satisfies JsonFault };
  if (isJsonObject(parsed.value)) return { input: parsed.value };
  const doubled = typeof parsed.value === "string" && parseJson(parsed.value, limits).ok;
  return { fault: { code: doubled ? "double_encoded" : "not_an_object" } };
}
