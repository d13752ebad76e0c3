import { parseJsonText } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { compile, differences, endOfString, isDigit } from "./compile-template.ts";
import type { Block, Template } from "./compile-template.ts";
import type { VendorEvent } from "./framing.ts";

/**
 * Reads the JSON texts of one stream, most of which differ from an earlier one only in a string or
 * a number. Such a text is compared with the earlier one instead of parsed, at a third of the cost.
 * The result equals that of `parseJsonText` for every text: a template only matches texts of the
 * same document with other strings or numbers in the same places.
 *
 * Most streams repeat the lines around their texts too. `readBlock` then compares a whole event, and
 * its lines are not parsed either.
 */
export class TemplateReader {
  /** The index after the event that `readBlock` has read. */
  end = 0;
  readonly #templates: Template[] = [];
  #learned = 0;
  /** The template that matched last. */
  #last: Template | undefined;
  /** The template of the text that `read` has read last, if there is one. */
  #current: Template | undefined;
  #previous: string | undefined;
  /**
   * Attempts left to find a template. A failed attempt has a cost, so a stream without repetition
   * soon stops trying.
   */
  #attemptsLeft = 64;

  /** Reads a text. `tried`: `readBlock` has read nothing where the text's event begins. */
  read(text: string, tried = false): unknown {
    this.#current = undefined;
    // A text is not searched twice for the same templates.
    const known = tried && this.#templates.every(hasBlock) ? undefined : this.#find(text, 0, false);
    if (known !== undefined) {
      this.#current = this.#last;
      return known;
    }
    const value = parseJsonText(text);
    if (this.#attemptsLeft > 0) this.#learn(text);
    return value;
  }

  /** Notes the block that the last text came in. Later ones that are like it are read by `readBlock`. */
  noteBlock(block: string, name: string, text: string): void {
    const template = this.#current;
    if (template === undefined || hasBlock(template)) return;
    const head = name === "" ? "data: " : `event: ${name}\ndata: `;
    // Other fields or lines before the text, or a text of several lines, are left to the parser.
    if (block === `${head}${text}\n\n`) template.block = blockOf(template.pieces, head, name);
  }

  /**
   * Reads the event that begins at an index, where no other one is unfinished. Returns undefined if it
   * matches no template, or is cut. No value in a hole contains a line end, so that an event which
   * matches has the same lines as the one before it.
   */
  readBlock(text: string, at: number): VendorEvent | undefined {
    const data = this.#find(text, at, true);
    const template = this.#last;
    if (data === undefined || template?.block === undefined) return undefined;
    this.end = template.end;
    return { name: template.block.name, data };
  }

  /**
   * Tries the template that followed the last one before: parallel calls alternate in a fixed
   * order.
   */
  #find(text: string, at: number, inBlock: boolean): JsonObject | undefined {
    const likely = this.#last === undefined ? undefined : this.#templates[this.#last.next];
    if (likely === undefined) return undefined; // no templates yet
    const value = fill(likely, text, at, inBlock);
    if (value === undefined) return this.#search(text, at, inBlock, likely);
    this.#last = likely;
    return value;
  }

  #search(text: string, from: number, inBlock: boolean, tried: Template): JsonObject | undefined {
    for (let at = 0; at < this.#templates.length; at += 1) {
      const template = this.#templates[at] as Template;
      const value = template === tried ? undefined : fill(template, text, from, inBlock);
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
      this.#current = template;
    }
  }
}

const mostTemplates = 16;

function hasBlock({ block }: Template): boolean {
  return block !== undefined;
}

function blockOf(pieces: readonly string[], head: string, name: string): Block {
  const last = pieces.length - 1;
  const whole = pieces.map(
    (piece, at) => (at === 0 ? head : "") + piece + (at === last ? "\n\n" : ""),
  );
  return { name, pieces: whole };
}

/**
 * The value of a text that matches a template, or undefined. A text ends with its template; a block
 * begins at `from`, and others may follow it. Sets the template's `end`.
 */
function fill(
  template: Template,
  text: string,
  from: number,
  inBlock: boolean,
): JsonObject | undefined {
  const { kinds, values } = template;
  const pieces = inBlock ? template.block?.pieces : template.pieces;
  if (pieces === undefined) return undefined;
  let at = from;
  for (let hole = 0; hole < kinds.length; hole += 1) {
    const piece = pieces[hole] as string;
    const start = at + piece.length;
    // Not `startsWith`: the engine runs that character by character, and compares slices at once.
    if (text.slice(at, start) !== piece) return undefined;
    const isString = kinds[hole] === "string";
    at = isString ? endOfPlain(text, start) : endOfDigits(text, start);
    let value: Json | undefined;
    if (!isString) value = integerAt(text, start, at);
    else if (text.charCodeAt(at) === quote) value = text.slice(start, at);
    else if (text.charCodeAt(at) === backslash) {
      const end = endOfString(text, at);
      value = unescaped(text, start, at, end);
      at = end;
    }
    if (value === undefined) return undefined;
    values[hole] = value;
  }
  const last = pieces[kinds.length] as string;
  const end = at + last.length;
  if (text.slice(at, end) !== last || (!inBlock && end !== text.length)) return undefined;
  template.end = end;
  return template.build(values) as JsonObject;
}

const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const zero = 0x30;

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

/**
 * The string between `start` and the quote at `end`, or undefined if it is not a valid one. Its first
 * escape is at `from`. A short string is put together here: the engine's parser costs several times as
 * much for each call. A long one is left to the engine, since sums of many pieces are slow to read.
 */
function unescaped(text: string, start: number, from: number, end: number): string | undefined {
  if (end - start > longString) return parsed(text.slice(start - 1, end + 1));
  let value = text.slice(start, from);
  for (let at = from; at < end;) {
    const letter = text.charCodeAt(at) === backslash ? letters[text.charAt(at + 1)] : undefined;
    if (letter === undefined) return parsed(text.slice(start - 1, end + 1));
    const plain = endOfPlain(text, at + 2);
    value += plain === at + 2 ? letter : letter + text.slice(at + 2, plain);
    at = plain;
  }
  return value;
}

const longString = 64;

/** The escapes of one letter. Those of a code, with `u`, are left to the engine. */
const letters: Readonly<Record<string, string>> = {
  __proto__: null as never,
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/** The string of a literal, or undefined if it is not a valid one. */
function parsed(literal: string): string | undefined {
  try {
    // oxlint-disable-next-line no-restricted-properties -- A literal that ends at its only bare quote has no key in it.
    return JSON.parse(literal) as string;
  } catch {
    return undefined; // a control character, or an escape that is not JSON
  }
}

/** The integer of some digits, or undefined if it needs rounding or is not valid JSON. */
function integerAt(text: string, start: number, end: number): number | undefined {
  const length = end - start;
  if (length === 0 || length > 15) return undefined;
  if (length > 1 && text.charCodeAt(start) === zero) return undefined;
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 10 + text.charCodeAt(at) - zero;
  return value;
}
