import { defaultJsonLimits, isForbiddenKey } from "./json.ts";
import { isSpace, parseJsonText } from "./parse-json.ts";
import type { Json, JsonFault, JsonFaultCode, JsonLimits } from "./json.ts";

/** A parsed text, or why it is refused. */
export type ParsedJson =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly fault: JsonFault };

/**
 * The door for JSON text from outside (a model's arguments, a request body). Strict: the grammar of
 * RFC 8259 and nothing more lenient, no duplicate keys, bounded. Linear in the text.
 */
export function parseJson(text: string, limits: JsonLimits = defaultJsonLimits): ParsedJson {
  const fault = scanJson(text, limits);
  if (fault) return { ok: false, fault };
  try {
    // The scanner has accepted it, so it is JSON, and no key can touch a prototype.
    return { ok: true, value: parseJsonText(text) as Json };
  } catch {
    return { ok: false, fault: { code: "too_deep" } }; // by limits that are wider than the reader's own
  }
}

class Refusal extends Error {
  readonly fault: JsonFault;
  constructor(fault: JsonFault) {
    super(fault.code);
    this.fault = fault;
  }
}

/** Reads the text once and returns its first fault, if it has one. Builds no value. */
export function scanJson(
  text: string,
  limits: JsonLimits = defaultJsonLimits,
): JsonFault | undefined {
  if (text.length > limits.length) return { code: "too_large", at: limits.length };
  const scanner = new Scanner(text, limits);
  try {
    scanner.value(0, undefined);
    scanner.space();
    if (scanner.at < text.length) return { code: "trailing_data", at: scanner.at };
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.fault;
    throw error;
  }
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;

/** Recursive descent; the depth limit bounds the recursion. */
class Scanner {
  at = 0;
  readonly #text: string;
  readonly #limits: JsonLimits;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  value(depth: number, parent: string | undefined): void {
    this.space();
    switch (this.#code()) {
      case 0x7b: // {
        return this.#object(depth, parent);
      case 0x5b: // [
        return this.#array(depth);
      case quote:
        this.#string();
        return;
      case 0x74:
        return this.#word("true");
      case 0x66:
        return this.#word("false");
      case 0x6e:
        return this.#word("null");
      default:
        return this.#number(depth);
    }
  }

  space(): void {
    while (isSpace(this.#code())) this.at += 1;
  }

  #object(depth: number, parent: string | undefined): void {
    if (this.#isEmpty(depth, 0x7d)) return;
    const seen = new Set<string>();
    for (;;) {
      this.space();
      const start = this.at;
      if (this.#code() !== quote) this.#unexpected();
      const key = this.#string("\\");
      if (isForbiddenKey(key, parent)) this.#refuse("forbidden_key", start, key);
      if (seen.has(key)) this.#refuse("duplicate_key", start, key);
      seen.add(key);
      if (seen.size > this.#limits.keys) this.#refuse("too_large", start);
      this.space();
      if (!this.#take(colon)) this.#unexpected();
      this.value(depth + 1, key);
      if (this.#isOver(0x7d)) return;
    }
  }

  #array(depth: number): void {
    if (this.#isEmpty(depth, 0x5d)) return;
    for (;;) {
      this.value(depth + 1, undefined);
      if (this.#isOver(0x5d)) return;
    }
  }

  /** Takes the bracket that opens a list or an object, and the one that closes it if nothing is in it. */
  #isEmpty(depth: number, close: number): boolean {
    if (depth >= this.#limits.depth) this.#refuse("too_deep");
    this.at += 1;
    this.space();
    return this.#take(close);
  }

  /** Takes what follows a value: the closing bracket, or a comma. */
  #isOver(close: number): boolean {
    this.space();
    if (this.#take(close)) return true;
    if (!this.#take(comma)) this.#unexpected();
    return false;
  }

  /**
   * Returns a key decoded, because keys are compared so: `\u005f` is `_`. A value is decoded only if it
   * has a code, which may be half a character.
   */
  #string(escape = "\\u"): string {
    const text = this.#text;
    const start = this.at + 1;
    // Most of a text stands in its strings, and a local index is several times as fast as a field.
    let at = start;
    for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(at)) {
      this.at = at;
      if (code === backslash) {
        this.#escape();
        at = this.at;
      } else if (code >= 0x20) at += 1;
      else this.#unexpected();
    }
    this.at = at + 1;
    const raw = text.slice(start, at);
    const decoded = raw.includes(escape) ? (JSON.parse(`"${raw}"`) as string) : raw;
    if (!decoded.isWellFormed()) this.#refuse("malformed_text", start - 1);
    return decoded;
  }

  #escape(): void {
    this.at += 1;
    const digits = this.#code() === 0x75 ? 4 : 0; // u
    this.#letter('"\\/bfnrtu');
    for (let digit = 0; digit < digits; digit += 1) this.#letter("0123456789abcdefABCDEF");
  }

  #letter(allowed: string): void {
    const letter = this.#text.charAt(this.at);
    if (letter === "" || !allowed.includes(letter)) this.#unexpected();
    this.at += 1;
  }

  #word(word: string): void {
    const found = this.#text.slice(this.at, this.at + word.length);
    if (found === word) {
      this.at += word.length;
    } else if (this.at + found.length === this.#text.length && word.startsWith(found)) {
      this.#refuse("truncated", this.#text.length);
    } else {
      this.#refuse("bad_json");
    }
  }

  /** Written out in digits, a number must be held exactly; with an exponent it is an approximation. */
  #number(depth: number): void {
    const start = this.at;
    this.#take(0x2d); // -
    if (!this.#take(0x30) && !this.#digits()) this.#unexpected();
    if (this.#take(0x2e) && !this.#digits()) this.#unexpected();
    const exponent = this.#take(0x65) || this.#take(0x45);
    if (exponent) {
      if (!this.#take(0x2b)) this.#take(0x2d);
      if (!this.#digits()) this.#unexpected();
    }
    // Inside a list or an object something must follow, and it may be more of the number.
    if (depth > 0 && this.at >= this.#text.length) this.#refuse("truncated");
    const size = Math.abs(Number(this.#text.slice(start, this.at)));
    if (size > (exponent ? Number.MAX_VALUE : Number.MAX_SAFE_INTEGER)) {
      this.#refuse("inexact_number", start);
    }
  }

  #digits(): boolean {
    const start = this.at;
    for (let code = this.#code(); code >= 0x30 && code <= 0x39; code = this.#code()) this.at += 1;
    return this.at > start;
  }

  #code(): number {
    return this.#text.charCodeAt(this.at);
  }

  #take(code: number): boolean {
    if (this.#code() !== code) return false;
    this.at += 1;
    return true;
  }

  #unexpected(): never {
    return this.#refuse(this.at >= this.#text.length ? "truncated" : "bad_json");
  }

  #refuse(code: JsonFaultCode, at = this.at, key?: string): never {
    throw new Refusal(key === undefined ? { code, at } : { code, at, key });
  }
}
