import type { Json, JsonObject } from "@millrace/core";
import type { LogicalCall } from "../replies.ts";
import type { Random } from "../../../../../tests/kit/random.ts";
import { pieces } from "./weave.ts";

/** True if paths to values can express the input: a container without a value has no path. */
export function canStream(input: JsonObject): boolean {
  return Object.values(input).every(hasPath);
}

function hasPath(value: Json): boolean {
  if (typeof value !== "object" || value === null) return true;
  const rows = Object.values(value);
  return rows.length > 0 && rows.every(hasPath);
}

interface Opening {
  readonly name: JsonObject;
  readonly signed: JsonObject;
}

/** A call in pieces: its name, the values by their paths, and an empty call at the end. */
export function partialCall(
  call: LogicalCall,
  { name, signed }: Opening,
  random: Random,
): readonly JsonObject[] {
  const values = call.input === undefined ? cutValues : valuesAt("$", call.input, random);
  const parts: JsonObject[] = [{ functionCall: { ...name, willContinue: true }, ...signed }];
  const ends = call.input !== undefined;
  // The last value may end the call by itself.
  const last = ends && random.chance(0.2);
  for (let at = 0; at < values.length;) {
    const next = at + 1 + (random.chance(0.8) ? 0 : 1 + random.below(3));
    const partialArgs = values.slice(at, next);
    const more = !last || next < values.length;
    parts.push({ functionCall: more ? { partialArgs, willContinue: true } : { partialArgs } });
    if (more && random.chance(0.05)) parts.push({ functionCall: { willContinue: true } });
    at = next;
  }
  const ended = last && values.length > 0;
  return ends && !ended ? [...parts, { functionCall: {} }] : parts;
}

/** A text that was cut when the tokens ran out. */
const cutValues: readonly JsonObject[] = [
  { jsonPath: "$.path", stringValue: "/etc/pas", willContinue: true },
];

function valuesAt(path: string, value: Json, random: Random): readonly JsonObject[] {
  if (typeof value === "string") return textAt(path, value, random);
  if (typeof value === "number") return [{ jsonPath: path, numberValue: value }];
  if (typeof value === "boolean") return [{ jsonPath: path, boolValue: value }];
  if (value === null) return [{ jsonPath: path, nullValue: "NULL_VALUE" }];
  if (isList(value)) {
    const end = random.chance(0.5) ? [{ jsonPath: `${path}[]` }] : [];
    return [...value.flatMap((row, at) => valuesAt(`${path}[${at}]`, row, random)), ...end];
  }
  return Object.entries(value).flatMap(([key, row]) => valuesAt(path + member(key), row, random));
}

function isList(value: JsonObject | readonly Json[]): value is readonly Json[] {
  return Array.isArray(value);
}

function member(key: string): string {
  if (/^[A-Za-z_]\w*$/.test(key)) return `.${key}`;
  return `['${key.replaceAll(/['\\]/g, String.raw`\$&`)}']`;
}

/** Each piece but the last has `willContinue`. The vendor's own last piece is empty. */
function textAt(path: string, text: string, random: Random): readonly JsonObject[] {
  const cut = pieces(text, random);
  const all = cut.length === 0 || random.chance(0.5) ? [...cut, ""] : cut;
  return all.map((piece, at) => {
    const more = at < all.length - 1;
    return { jsonPath: path, stringValue: piece, ...(more ? { willContinue: true } : {}) };
  });
}
