import { isJsonObject, parseJsonText } from "@millrace/core";
import type { Json, JsonObject } from "@millrace/core";

/**
 * Reads JSON texts of one stream, most of which differ from an earlier one in a string or a number.
 * Such a text is compared with the earlier one instead of being parsed, which costs a fifth. What
 * comes out is what `parseJsonText` gives, for every text: a template only ever stands for texts that
 * are the same document with other strings or numbers in the same places.
 */
export class TemplateReader {
  readonly #templates: Template[] = [];
  #last = 0;
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

  /** Tries the template that matched last and those behind it: parallel calls take turns. */
  #find(text: string): JsonObject | undefined {
    const count = this.#templates.length;
    for (let turn = 0; turn < count; turn += 1) {
      const at = (this.#last + turn) % count;
      const value = fill(this.#templates[at] as Template, text);
      if (value === undefined) continue;
      // With one template it is the same one again; with several it is often the next.
      this.#last = count < 3 ? at : (at + 1) % count;
      return value;
    }
    return undefined;
  }

  #learn(text: string): void {
    const holes = this.#previous === undefined ? undefined : differences(this.#previous, text);
    this.#previous = text;
    const template = holes === undefined ? undefined : compile(text, holes);
    if (template === undefined) this.#patience -= 1;
    else {
      this.#patience += 8;
      this.#last = this.#templates.length;
      this.#templates.push(template);
      if (this.#templates.length > mostTemplates) this.#templates.shift();
    }
  }
}

const mostTemplates = 16;

/** A document cut at its holes. There is one more piece than there are holes. */
interface Template {
  readonly pieces: readonly string[];
  readonly kinds: readonly Hole["kind"][];
  readonly build: Build;
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
function fill({ pieces, kinds, build }: Template, text: string): JsonObject | undefined {
  const first = pieces[0] as string;
  // Not `startsWith`: the engine goes through that letter by letter, and compares slices at once.
  if (text.slice(0, first.length) !== first) return undefined;
  const values: Json[] = [];
  let at = first.length;
  for (let hole = 0; hole < kinds.length; hole += 1) {
    const piece = pieces[hole + 1] as string;
    const isLast = hole === kinds.length - 1;
    // The last piece is at the end of the text; before it, a hole ends where the next piece begins.
    const end = isLast ? text.length - piece.length : text.indexOf(piece, at);
    if (end < at || (isLast && text.slice(end) !== piece)) return undefined;
    const content = text.slice(at, end);
    const value = kinds[hole] === "string" ? stringOf(content) : integerOf(content);
    if (value === undefined) return undefined;
    values.push(value);
    at = end + piece.length;
  }
  return build(values) as JsonObject;
}

/** What stands between two quotes, if it is exactly one string. */
function stringOf(content: string): string | undefined {
  if (!notPlain.test(content)) return content;
  if (!content.includes("\\")) return undefined;
  try {
    return parseJsonText(`"${content}"`) as string;
  } catch {
    return undefined; // it holds a quote of its own, or ends in half an escape
  }
}

function integerOf(content: string): number | undefined {
  return plainInteger.test(content) ? Number(content) : undefined;
}

/** What would end a string, escape something in it, or not be allowed in it. */
// oxlint-disable-next-line no-control-regex -- JSON forbids these in strings, so they must be seen.
const notPlain = /["\\\u0000-\u001f]/;
/** Written as JSON writes a number that needs no rounding. */
const plainInteger = /^(?:0|[1-9]\d{0,14})$/;

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

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function endOfString(text: string, start: number): number {
  let at = start;
  for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(at)) {
    at += code === backslash ? 2 : 1;
  }
  return at;
}

/** The template for a text and its holes, or nothing if one of them is no value of its own. */
function compile(text: string, holes: readonly Hole[]): Template | undefined {
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
  const isComplete = build !== undefined && found.size === holes.length;
  return isComplete ? { pieces, kinds: holes.map(({ kind }) => kind), build } : undefined;
}

function markOf(hole: number | ""): string {
  return `\u2063hole ${hole}\u2063`;
}

/** What makes a node anew, or nothing if no hole is below it. Marks the holes as found. */
function builderOf(node: Json, found: Set<number>): Build | undefined {
  if (typeof node === "string") return holeOf(node, found);
  if (typeof node !== "object" || node === null) return undefined;
  const changed = Object.entries(node).flatMap(([key, value]: [string, Json]) => {
    const build = builderOf(value, found);
    return build === undefined ? [] : [{ key, build }];
  });
  const [first, ...others] = changed;
  if (first === undefined) return undefined;
  if (others.length > 0) return copier(node, changed);
  // Mostly there is one way down, through lists of one: those are made without a loop.
  const { key, build } = first;
  if (!isJsonObject(node)) return node.length === 1 ? listOfOne(build) : copier(node, changed);
  return (values) => {
    const copy: Record<string, Json> = { ...node };
    copy[key] = build(values);
    return copy;
  };
}

function holeOf(text: string, found: Set<number>): Build | undefined {
  if (!text.startsWith(markOf("").slice(0, -1))) return undefined;
  const hole = Number(text.slice(6, -1));
  found.add(hole);
  return (values) => values[hole] as Json;
}

function listOfOne(build: Build): Build {
  return (values) => [build(values)];
}

function copier(
  node: JsonObject | readonly Json[],
  changed: readonly { readonly key: string; readonly build: Build }[],
): Build {
  return (values) => {
    const copy = (isJsonObject(node) ? { ...node } : node.slice()) as Record<string, Json>;
    for (const { key, build } of changed) copy[key] = build(values);
    return copy;
  };
}
