import { isForbiddenKey } from "../json.ts";
import type { JsonFaultCode, JsonLimits } from "../json.ts";

/** The value of the text, if JSON.parse accepts it. */
export function tryParse(text: string): { readonly value: unknown } | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  return { value: readJson(text) };
}

/**
 * The value of a text that JSON.parse accepts. JSON.parse itself can't be the judge of keys: since
 * V8 12.8 it may confuse an escaped key with another one that it parsed before (nodejs/node#63785).
 */
export function readJson(text: string): unknown {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs) ?? [];
  let at = 0;
  const take = (): string => tokens[at++] ?? "";
  const until = (end: string, read: () => void): void => {
    while (tokens[at] !== end) {
      if (tokens[at] === ",") at += 1;
      else read();
    }
    at += 1;
  };
  const value = (): unknown => {
    const token = take();
    if (token === "[") {
      const rows: unknown[] = [];
      until("]", () => rows.push(value()));
      return rows;
    }
    if (token !== "{") return JSON.parse(token) as unknown;
    const fields = new Map<string, unknown>();
    until("}", () => {
      const key = JSON.parse(take()) as string;
      at += 1; // the colon
      fields.set(key, value());
    });
    return Object.fromEntries(fields);
  };
  return value();
}

/**
 * What the documentation refuses in a text that JSON.parse accepts, found by other means than the
 * scanner's: tokens by regular expressions, keys by counting them in the parsed value.
 */
export function documentedRefusals(text: string, limits: JsonLimits): ReadonlySet<JsonFaultCode> {
  const refusals = new Set<JsonFaultCode>();
  if (text.length > limits.length) refusals.add("too_large");

  const tokens = text.match(/"(?:[^"\\]|\\.)*"(?:[ \t\r\n]*:)?/gs) ?? [];
  for (const token of tokens) {
    const decoded = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1)) as string;
    if (!decoded.isWellFormed()) refusals.add("malformed_text");
  }

  const bare = text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, "");
  for (const number of bare.match(/-?[0-9][-+.0-9eE]*/g) ?? []) {
    if (isInexact(number)) refusals.add("inexact_number");
  }

  const counted = count(readJson(text), limits, refusals);
  // Of a doubled key only the last is left in the value, and what stood under the first is gone.
  if (tokens.filter((token) => token.endsWith(":")).length > counted) {
    for (const code of ["duplicate_key", "forbidden_key", "too_deep", "too_large"] as const)
      refusals.add(code);
  }
  return refusals;
}

/** Beyond all numbers, or beyond 2^53 - 1 and without an exponent, which marks an approximation. */
export function isInexact(number: string): boolean {
  const size = Math.abs(Number(number));
  return size === Infinity || (size >= 2 ** 53 && !/[eE]/.test(number));
}

/** How many keys the value has. Notes what is wrong with them on the way. */
function count(value: unknown, limits: JsonLimits, refusals: Set<JsonFaultCode>): number {
  let counted = 0;
  const walk = (node: unknown, level: number, parent: string | undefined): void => {
    if (typeof node !== "object" || node === null) return;
    if (level >= limits.depth) refusals.add("too_deep");
    const names = Array.isArray(node) ? [] : Object.keys(node);
    if (names.length > limits.keys) refusals.add("too_large");
    counted += names.length;
    if (names.some((name) => isForbiddenKey(name, parent))) refusals.add("forbidden_key");
    for (const [name, child] of Object.entries(node))
      walk(child, level + 1, Array.isArray(node) ? undefined : name);
  };
  walk(value, 0, undefined);
  return counted;
}
