import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";

/**
 * Reads JSON texts of one stream, most of which differ from an earlier one in a string or a number.
 * Such a text is compared with the earlier one instead of being parsed, which costs a third. What
 * comes out is what `parseJsonText` gives, for every text: a template only ever stands for texts that
 * are the same document with other strings or numbers in the same places.
 */
export class TemplateReader {
  readonly #templates: Template[] = [];
  #learned = 0;
  /** The one that matched last. */
  #last: Template | undefined;
  #previous: string | undefined;
  /** Looking for a template costs a little, so a stream without any is soon left alone. */
  #patience = 64;

  read(text: string): unknown {
    const known = this.#find(text);
    if (known !== undefined) return known;
    const value = parseJsonText(text);
    if (this.#patience > 0) this.#learn(text);
    return value;
  }

  /** What came behind a template mostly comes behind it again: parallel calls take turns. */
  #find(text: string): JsonObject | undefined {
    const likely = this.#last === undefined ? undefined : this.#templates[this.#last.next];
    if (likely === undefined) return undefined; // there are none yet
    const value = fill(likely, text);
    if (value === undefined) return this.#search(text, likely);
    this.#last = likely;
    return value;
  }

  #search(text: string, tried: Template): JsonObject | undefined {
    for (let at = 0; at < this.#templates.length; at += 1) {
      const template = this.#templates[at] as Template;
      const value = template === tried ? undefined : fill(template, text);
      if (value === undefined) continue;
      this.#follow(template, at);
      return value;
    }
    return undefined;
  }

  #follow(template: Template, at: number): void {
    if (this.#last !== undefined) this.#last.next = at;
    this.#last = template;
  }

  #learn(text: string): void {
    const holes = this.#previous === undefined ? undefined : differences(this.#previous, text);
    this.#previous = text;
    const at = this.#learned % mostTemplates;
    const template = holes === undefined ? undefined : compile(text, holes, at);
    if (template === undefined) this.#patience -= 1;
    else {
      this.#patience += 8;
      this.#learned += 1;
      this.#templates[at] = template; // in the place of the oldest, if all are taken
      this.#follow(template, at);
    }
  }
}

const mostTemplates = 16;

/** A document cut at its holes. There is one more piece than there are holes. */
interface Template {
  readonly pieces: readonly string[];
  readonly kinds: readonly Hole["kind"][];
  readonly build: Build;
  /** What stands in the holes of the text at hand. One list for all texts: nothing keeps it. */
  readonly values: Json[];
  /** Where the template stands that matched behind this one, the last time; at first itself. */
  next: number;
}

/** Makes the document from what stands in its holes. What is on no way to a hole is shared by all. */
type Build = (values: readonly Json[]) => Json;

interface Hole {
  readonly kind: "string" | "number";
  /** What stands in it: inside the quotes of a string, all of a number. */
  readonly start: number;
  readonly end: number;
}

/** The value of a text that fits a template, or nothing. */
function fill({ pieces, kinds, build, values }: Template, text: string): JsonObject | undefined {
  let at = 0;
  for (let hole = 0; hole < pieces.length; hole += 1) {
    const piece = pieces[hole] as string;
    const start = at + piece.length;
    // Not `startsWith`: the engine goes through that letter by letter, and compares slices at once.
    if (text.slice(at, start) !== piece) return undefined;
    if (hole === kinds.length)
      return start === text.length ? (build(values) as JsonObject) : undefined;
    at = kinds[hole] === "string" ? endOfPlain(text, start) : endOfDigits(text, start);
    let value: Json | undefined;
    if (kinds[hole] === "number") value = integerOf(text.slice(start, at));
    else if (text.charCodeAt(at) === quote) value = text.slice(start, at);
    else {
      at = endOfString(text, at);
      value = unescaped(text.slice(start - 1, at + 1));
    }
    if (value === undefined) return undefined;
    values[hole] = value;
  }
  return undefined;
}

/** Where a string ends, or has something in it that does not stand for itself. */
function endOfPlain(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code >= space; code = text.charCodeAt(at)) {
    if (code === quote || code === backslash) return at;
    at += 1;
  }
  return at;
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at += 1;
  return at;
}

/** The string that a literal says, if it is one. */
function unescaped(literal: string): string | undefined {
  try {
    // oxlint-disable-next-line no-restricted-properties -- A literal that ends at its only bare quote has no key in it.
    return JSON.parse(literal) as string;
  } catch {
    return undefined; // a control character, or an escape that JSON does not know
  }
}

/** A number that needs no rounding, if it is written as JSON wants it. */
function integerOf(digits: string): number | undefined {
  const isPlain = digits.length === 1 || (digits.length < 16 && digits.charCodeAt(0) > zero);
  return isPlain ? Number(digits) : undefined;
}

/** Where `text` differs from `earlier`, if only in strings and numbers. Both are known to be JSON. */
function differences(earlier: string, text: string): readonly Hole[] | undefined {
  const holes: Hole[] = [];
  let left = 0;
  let right = 0;
  for (; left < earlier.length && right < text.length; left += 1, right += 1) {
    const code = text.charCodeAt(right);
    const other = earlier.charCodeAt(left);
    if (code === quote && other === quote) {
      const start = right + 1;
      const leftEnd = endOfString(earlier, left + 1);
      right = endOfString(text, start);
      const isSame = earlier.slice(left + 1, leftEnd) === text.slice(start, right);
      if (!isSame) holes.push({ kind: "string", start, end: right });
      left = leftEnd;
    } else if (isDigit(code) && isDigit(other)) {
      const start = right;
      const leftStart = left;
      while (isDigit(text.charCodeAt(right))) right += 1;
      while (isDigit(earlier.charCodeAt(left))) left += 1;
      const isSame = earlier.slice(leftStart, left) === text.slice(start, right);
      // Digits that are only a part of their number are found out when the template is compiled.
      if (!isSame) holes.push({ kind: "number", start, end: right });
      right -= 1;
      left -= 1;
    } else if (code !== other) return undefined;
    if (holes.length > mostHoles) return undefined;
  }
  const isDone = left === earlier.length && right === text.length;
  return isDone && holes.length > 0 ? holes : undefined;
}

const mostHoles = 4;
const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const zero = 0x30;

function isDigit(code: number): boolean {
  return code >= zero && code <= 0x39;
}

/** The quote that ends a string, or the end of a text that has none. */
function endOfString(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== quote) {
    at += text.charCodeAt(at) === backslash ? 2 : 1;
  }
  return at;
}

/** The template for a text and its holes, or nothing if one of them is no value of its own. */
function compile(text: string, holes: readonly Hole[], next: number): Template | undefined {
  // Text that may hold what looks like a mark of ours, spelled out or escaped.
  if (text.includes("\u2063") || text.includes("\\u")) return undefined;
  const pieces: string[] = [];
  let marked = "";
  let from = 0;
  for (const [index, { kind, start, end }] of holes.entries()) {
    pieces.push(text.slice(from, start));
    const mark = markOf(index);
    marked += text.slice(from, start) + (kind === "string" ? mark : `"${mark}"`);
    from = end;
  }
  pieces.push(text.slice(from));
  marked += text.slice(from);
  // A hole must end where its piece begins, and nowhere before: a string's piece begins with its quote.
  const inner = pieces.slice(1, -1);
  if (inner.some((piece, at) => holes[at]?.kind === "number" && isDigit(piece.charCodeAt(0)))) {
    return undefined;
  }
  let document: unknown;
  try {
    document = parseJsonText(marked);
  } catch {
    return undefined; // the digits were a part of something
  }
  const found = new Set<number>();
  const build = isJsonObject(document) ? builderOf(document, found) : undefined;
  if (build === undefined || found.size < holes.length) return undefined;
  return { pieces, kinds: holes.map(({ kind }) => kind), build, values: [], next };
}

const markStart = "\u2063hole ";

function markOf(hole: number): string {
  return `${markStart}${hole}\u2063`;
}

/** What makes a node anew, or nothing if no hole is below it. Marks the holes as found. */
function builderOf(node: Json, found: Set<number>, depth = 0): Build | undefined {
  if (typeof node === "string") return holeOf(node, found);
  if (typeof node !== "object" || node === null) return undefined;
  const below = isJsonObject(node) ? depth + 1 : depth;
  const changes = Object.entries(node).flatMap(([key, value]: [string, Json]) => {
    const build = builderOf(value, found, below);
    return build === undefined ? [] : [{ key, build }];
  });
  const [first, ...others] = changes;
  if (first === undefined) return undefined;
  if (others.length > 0) return copier(node, changes);
  // Mostly there is one way down, through lists of one: those are made without a loop.
  if (!isJsonObject(node))
    return node.length === 1 ? listOfOne(first.build) : copier(node, changes);
  const make = makers[depth % makers.length] as Make;
  return make(node, first.key, first.build);
}

function holeOf(text: string, found: Set<number>): Build | undefined {
  if (!text.startsWith(markStart)) return undefined;
  const hole = Number(text.slice(markStart.length, -1));
  found.add(hole);
  return (values) => values[hole] as Json;
}

function listOfOne(build: Build): Build {
  return (values) => [build(values)];
}

type Make = (node: JsonObject, key: string, build: Build) => Build;

/**
 * One function five times. At each place in the code the engine remembers up to four shapes of objects
 * that were copied there, and copies others at less than half the speed; so each depth has its own place.
 */
const makers: readonly Make[] = [
  (node, key, build) => (values) => ({ ...node, [key]: build(values) }),
  (node, key, build) => (values) => ({ ...node, [key]: build(values) }),
  (node, key, build) => (values) => ({ ...node, [key]: build(values) }),
  (node, key, build) => (values) => ({ ...node, [key]: build(values) }),
  (node, key, build) => (values) => ({ ...node, [key]: build(values) }),
];

function copier(
  node: JsonObject | readonly Json[],
  changes: readonly { readonly key: string; readonly build: Build }[],
): Build {
  return (values) => {
    const copy = (isJsonObject(node) ? { ...node } : node.slice()) as Record<string, Json>;
    for (const { key, build } of changes) copy[key] = build(values);
    return copy;
  };
}
