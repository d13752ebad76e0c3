import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { parsePath } from "./json-path.ts";

/**
 * Converts arguments that arrive as values with paths to JSON text. Keeps only the open levels, so
 * that text is appended and never read again. A path inside a closed container can't be written: a
 * list element is refused here, and a repeated key produces text that the argument parser refuses.
 */
export interface PartialArguments {
  /** The open objects and lists, outermost first. Empty until something is written. */
  readonly levels: readonly Level[];
  /** The path of the string that continues. */
  readonly open: string | undefined;
}

interface Level {
  readonly list: boolean;
  /** The key or index written last. If its value is open, it is the next level. */
  readonly last: string | number;
}

export type Added =
  | { readonly ok: true; readonly next: PartialArguments; readonly text: string }
  | { readonly ok: false; readonly message: string };

export const noArguments: PartialArguments = { levels: [], open: undefined };

/** The argument parser refuses deeper values anyway. */
const maxDepth = 64;

/** Adds one of the vendor's `partialArgs`. The cost does not depend on earlier ones. */
export function addArgument(state: PartialArguments, argument: Json): Added {
  if (!isJsonObject(argument)) return refused("an argument is no object");
  const place = argument["jsonPath"];
  if (typeof place !== "string") return refused("an argument has no path");
  if (state.open !== undefined) {
    if (place !== state.open) return refused(`the string at ${state.open} never ended`);
    return continued(state, argument);
  }
  const path = parsePath(place);
  if (path === undefined || path.segments.length > maxDepth) {
    return refused(`no path of an argument: ${place.slice(0, 200)}`);
  }
  const value = valueOf(argument);
  if (path.list) {
    return value === undefined
      ? endList(state, path.segments)
      : write(state, [...path.segments, nextRow(state, path.segments)], value, place);
  }
  if (value === undefined) return refused(`no value for ${place.slice(0, 200)}`);
  return write(state, path.segments, value, place);
}

/** The text that closes all open levels. Undefined while a string is open: more must follow. */
export function endOf({ levels, open }: PartialArguments): string | undefined {
  return open === undefined ? closing(levels, 0) : undefined;
}

interface Value {
  readonly text: string;
  /** True if the string continues in the next argument. */
  readonly open: boolean;
}

function valueOf(argument: JsonObject): Value | undefined {
  const text = argument["stringValue"];
  if (typeof text === "string") {
    const open = argument["willContinue"] === true;
    return { text: `"${escaped(text)}${open ? "" : '"'}`, open };
  }
  const number = argument["numberValue"];
  if (typeof number === "number" && Number.isFinite(number)) {
    return { text: JSON.stringify(number), open: false };
  }
  const truth = argument["boolValue"];
  if (typeof truth === "boolean") return { text: truth ? "true" : "false", open: false };
  return argument["nullValue"] === undefined ? undefined : { text: "null", open: false };
}

/** Escapes a lone surrogate, so that the next chunk can complete the pair. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

function continued({ levels, open }: PartialArguments, argument: JsonObject): Added {
  const text = argument["stringValue"] ?? "";
  if (typeof text !== "string") return refused(`the string at ${open} became something else`);
  if (argument["willContinue"] === true) {
    return { ok: true, next: { levels, open }, text: escaped(text) };
  }
  return { ok: true, next: { levels, open: undefined }, text: `${escaped(text)}"` };
}

/** The number of open levels on the path. The outermost is always one. */
function shared(levels: readonly Level[], segments: readonly (string | number)[]): number {
  let depth = 0;
  while (
    depth + 1 < levels.length &&
    depth + 1 < segments.length &&
    levels[depth]?.last === segments[depth]
  ) {
    depth += 1;
  }
  return depth;
}

function write(
  { levels }: PartialArguments,
  segments: readonly (string | number)[],
  value: Value,
  place: string,
): Added {
  const depth = shared(levels, segments);
  const before = levels[depth];
  const pieces = [closing(levels, depth + 1)];
  const open = levels.slice(0, depth);
  for (const [at, child] of segments.entries()) {
    if (at < depth) continue;
    const list = typeof child === "number";
    const first = at > depth || before === undefined;
    if (!first && before.list !== list) return refused(`${place} is at once an object and a list`);
    if (first && at === 0 && list) return refused("arguments are an object, not a list");
    const expected = first || typeof before.last !== "number" ? 0 : before.last + 1;
    if (list && child !== expected) return refused(`${place} is not the next row of its list`);
    pieces.push(first ? (list ? "[" : "{") : ",");
    if (!list) pieces.push(JSON.stringify(child), ":");
    open.push({ list, last: child });
  }
  const next = { levels: open, open: value.open ? place : undefined };
  return { ok: true, next, text: pieces.join("") + value.text };
}

/** A path to a list without a value ends that list, or creates an empty one. */
function endList(state: PartialArguments, segments: readonly (string | number)[]): Added {
  const { levels } = state;
  const inside = segments.length;
  const isOpen =
    levels[inside]?.list === true && segments.every((child, at) => levels[at]?.last === child);
  if (!isOpen) return write(state, segments, { text: "[]", open: false }, segments.join("."));
  const next = { levels: levels.slice(0, inside), open: undefined };
  return { ok: true, next, text: closing(levels, inside) };
}

/** The index after the last element of a list. */
function nextRow({ levels }: PartialArguments, segments: readonly (string | number)[]): number {
  const level = levels[segments.length];
  const isOpen = segments.every((child, at) => levels[at]?.last === child);
  return isOpen && typeof level?.last === "number" ? level.last + 1 : 0;
}

function closing(levels: readonly Level[], from: number): string {
  let text = "";
  for (let at = levels.length - 1; at >= from; at -= 1) text += levels[at]?.list ? "]" : "}";
  return text;
}

function refused(message: string): Added {
  return { ok: false, message };
}
