import { isJsonObject, parseJsonText } from "@millrace/core/wire";
import type { Json, JsonObject } from "@millrace/core";

/**
 * Reads the JSON texts of one stream, most of which differ from an earlier one only in a string or
 * a number. Such a text is compared with the earlier one instead of parsed, at a third of the cost.
 * The result equals that of `parseJsonText` for every text: a template only matches texts of the
 * same document with other strings or numbers in the same places.
 */
export class TemplateReader {
  readonly #templates: Template[] = [];
  #learned = 0;
  /** The template that matched last. */
  #last: Template | undefined;
  #previous: string | undefined;
  /**
   * Attempts left to find a template. A failed attempt has a cost, so a stream without repetition
   * soon stops trying.
   */
  #attemptsLeft = 64;

  read(text: string): unknown {
    const known = this.#find(text);
    if (known !== undefined) return known;
    const value = parseJsonText(text);
    if (this.#attemptsLeft > 0) this.#learn(text);
    return value;
  }

  /**
   * Tries the template that followed the last one before: parallel calls alternate in a fixed
   * order.
   */
  #find(text: string): JsonObject | undefined {
    const likely = this.#last === undefined ? undefined : this.#templates[this.#last.next];
    if (likely === undefined) return undefined; // no templates yet
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
    if (template === undefined) this.#attemptsLeft -= 1;
    else {
      this.#attemptsLeft += 8;
      this.#learned += 1;
      this.#templates[at] = template; // replaces the oldest if all slots are used
      this.#follow(template, at);
    }
  }
}

const mostTemplates = 16;

/** A document split at its holes. There is one more piece than there are holes. */
interface Template {
  readonly pieces: readonly string[];
  readonly kinds: readonly Hole["kind"][];
  readonly build: Build;
  /**
   * The values in the holes of the current text. Reused for every text; no result refers to it.
   */
  readonly values: Json[];
  /** The index of the template that matched after this one, the last time. Initially its own. */
  next: number;
}

/**
 * Builds the document from the values in its holes. Subtrees without a hole are shared between
 * results.
 */
type Build = (values: readonly Json[]) => Json;

interface Hole {
  readonly kind: "string" | "number";
  /** The range of the value: inside the quotes of a string, all digits of a number. */
  readonly start: number;
  readonly end: number;
}

/** The value of a text that matches a template, or undefined. */
function fill({ pieces, kinds, build, values }: Template, text: string): JsonObject | undefined {
  let at = 0;
  for (let hole = 0; hole < pieces.length; hole += 1) {
    const piece = pieces[hole] as string;
    const start = at + piece.length;
    // Not `startsWith`: the engine runs that character by character, and compares slices at once.
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

/** The index where a string ends, or where its first escape or control character stands. */
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

/** The string of a literal, or undefined if it is not a valid one. */
function unescaped(literal: string): string | undefined {
  try {
    // oxlint-disable-next-line no-restricted-properties -- A literal that ends at its only bare quote has no key in it.
    return JSON.parse(literal) as string;
  } catch {
    return undefined; // a control character, or an escape that is not JSON
  }
}

/** The integer, or undefined if it needs rounding or is not valid JSON. */
function integerOf(digits: string): number | undefined {
  const isPlain = digits.length === 1 || (digits.length < 16 && digits.charCodeAt(0) > zero);
  return isPlain ? Number(digits) : undefined;
}

/**
 * The places where `text` differs from `earlier`, or undefined if they differ in more than strings
 * and numbers. Both are known to be JSON.
 */
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
      // Digits that are only a part of their number are detected when the template is compiled.
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

/** The index of the quote that ends a string, or of the end of the text. */
function endOfString(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== quote) {
    at += text.charCodeAt(at) === backslash ? 2 : 1;
  }
  return at;
}

/**
 * Compiles a template from a text and its holes, or undefined if a hole is not a complete value.
 */
function compile(text: string, holes: readonly Hole[], next: number): Template | undefined {
  // The text may contain a marker of the compiler, literal or escaped.
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
  // A hole must end where its next piece begins, and nowhere earlier: after a string that piece
  // begins with the quote.
  const inner = pieces.slice(1, -1);
  if (inner.some((piece, at) => holes[at]?.kind === "number" && isDigit(piece.charCodeAt(0)))) {
    return undefined;
  }
  let document: unknown;
  try {
    document = parseJsonText(marked);
  } catch {
    return undefined; // the digits were part of another token
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

/**
 * Builds the function that creates a node, or undefined if it contains no hole. Records the holes
 * found.
 */
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
  // Most documents have one path to the hole, through lists of one element: those are built without
  // a loop.
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
 * The same function five times. At each call site the engine remembers up to four object shapes,
 * and copies others at less than half the speed. So each depth has its own call site.
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
