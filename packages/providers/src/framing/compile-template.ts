import { isJsonObject, parseJsonText } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";

/** A document split at its holes. There is one more piece than there are holes. */
export interface Template {
  readonly pieces: readonly string[];
  readonly kinds: readonly Hole["kind"][];
  readonly build: Build;
  /**
   * The values in the holes of the current text. Reused for every text; no result refers to it.
   */
  readonly values: Json[];
  /** The index of the template that matched after this one, the last time. Initially its own. */
  next: number;
  /** The lines around the document, once they are known. */
  block: Block | undefined;
  /** The index after the text that matched last. */
  end: number;
}

/** A server-sent event that has its document in one line of data, and no other field but its name. */
export interface Block {
  readonly name: string;
  /** The pieces of the document, with the beginning of the event and the blank line that ends it. */
  readonly pieces: readonly string[];
}

/**
 * Builds the document from the values in its holes. Subtrees without a hole are shared between
 * results.
 */
type Build = (values: readonly Json[]) => Json;

/** A place where documents of one template differ. */
export interface Hole {
  readonly kind: "string" | "number";
  /** The range of the value: inside the quotes of a string, all digits of a number. */
  readonly start: number;
  readonly end: number;
}

/**
 * The places where `text` differs from `earlier`, or undefined if they differ in more than strings
 * and numbers. Both are known to be JSON.
 */
export function differences(earlier: string, text: string): readonly Hole[] | undefined {
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
const zero = 0x30;

export function isDigit(code: number): boolean {
  return code >= zero && code <= 0x39;
}

/** The index of the quote that ends a string, or of the end of the text. */
export function endOfString(text: string, start: number): number {
  let at = start;
  while (at < text.length && text.charCodeAt(at) !== quote) {
    at += text.charCodeAt(at) === backslash ? 2 : 1;
  }
  return at;
}

/**
 * Compiles a template from a text and its holes, or undefined if a hole is not a complete value.
 */
export function compile(text: string, holes: readonly Hole[], next: number): Template | undefined {
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
  const kinds = holes.map(({ kind }) => kind);
  return { pieces, kinds, build, values: [], next, block: undefined, end: 0 };
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
  if (!isJsonObject(node)) {
    return node.length === 1 ? listOfOne(first.build) : listCopier(node, changes);
  }
  if (others.length > 0) return objectCopier(node, changes);
  // Most documents have one path to the hole, through lists of one element: those are built without
  // a loop.
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
 * and copies others at less than half the speed. So each depth has its own call site. The key is
 * stored after the copy: a computed key inside the literal costs as much as all the rest.
 */
const makers: readonly Make[] = [
  (node, key, build) => (values) => {
    const copy: Record<string, Json> = { ...node };
    copy[key] = build(values);
    return copy;
  },
  (node, key, build) => (values) => {
    const copy: Record<string, Json> = { ...node };
    copy[key] = build(values);
    return copy;
  },
  (node, key, build) => (values) => {
    const copy: Record<string, Json> = { ...node };
    copy[key] = build(values);
    return copy;
  },
  (node, key, build) => (values) => {
    const copy: Record<string, Json> = { ...node };
    copy[key] = build(values);
    return copy;
  },
  (node, key, build) => (values) => {
    const copy: Record<string, Json> = { ...node };
    copy[key] = build(values);
    return copy;
  },
];

interface Change {
  readonly key: string;
  readonly build: Build;
}

function objectCopier(node: JsonObject, changes: readonly Change[]): Build {
  return (values) => {
    const copy: Record<string, Json> = { ...node };
    for (const { key, build } of changes) copy[key] = build(values);
    return copy;
  };
}

function listCopier(node: readonly Json[], changes: readonly Change[]): Build {
  return (values) => {
    const copy = node.slice();
    for (const { key, build } of changes) copy[Number(key)] = build(values);
    return copy;
  };
}
