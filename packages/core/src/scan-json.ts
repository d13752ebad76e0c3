import { defaultJsonLimits, isForbiddenKey } from "./json.ts";
import { EscapedKeys } from "./escaped-keys.ts";
import { isSpace } from "./parse-json.ts";
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
  return new JsonScan(text, limits).parse();
}

/** Reads the text once and returns its first fault, if it has one. Builds no value. */
export function scanJson(
  text: string,
  limits: JsonLimits = defaultJsonLimits,
): JsonFault | undefined {
  const scan = new JsonScan(text, limits);
  scan.run();
  return scan.fault;
}

/** Thrown to end a scan whose `fault` says why. */
const refused = new Error("refused");

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const closeList = 0x5d;
const closeObject = 0x7d;
/** More than any number needs that is written by a program. */
const maxDigits = 1_000;

/** A list or an object that is open. */
interface Open {
  readonly close: number;
  /** The keys that an object has so far. */
  readonly keys: Set<string>;
  /** The key of the value that is read. */
  key?: string;
}

/** What stands around the whole text. It is never changed. */
const outside: Open = { close: comma, keys: new Set() };

/** What has to come next. */
type Next = "value" | "valueOrClose" | "key" | "keyOrClose" | "colon" | "after" | "end";

/**
 * One reading of a JSON text, which can be interrupted: a server reads a large body piece by piece, and
 * other requests get their turn in between.
 */
export class JsonScan {
  /** Set once the text is refused. */
  fault: JsonFault | undefined;
  readonly #text: string;
  readonly #limits: JsonLimits;
  /** The innermost that is open, and those around it. */
  #open = outside;
  readonly #around: Open[] = [];
  #at = 0;
  #next: Next = "value";
  /** Inside a string: where it begins. */
  #start = -1;
  /** Inside a string: the end of an escaped half of a pair, whose other half has to follow. */
  #half = -1;
  /** Inside a string: whether only decoding shows that it is well formed. */
  #isUnsure = false;
  readonly #escaped: EscapedKeys;
  #values = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#escaped = new EscapedKeys(text);
    this.#limits = limits;
    if (text.length > limits.length) this.fault = { code: "too_large", at: limits.length };
  }

  /** Reads on for about so many UTF-16 units; one number is read whole. Returns true when there is no more to read. */
  run(units: number = Infinity): boolean {
    if (this.fault !== undefined) return true;
    try {
      return this.#readTo(this.#at + units);
    } catch (error) {
      if (error !== refused) throw error;
      return true;
    }
  }

  /** Whether a key stands in the text that JSON can only spell with an escape. Such a text takes longer to parse. */
  get hasEscapedKey(): boolean {
    return this.#escaped.areNeeded;
  }

  /** The value, once all is read. */
  parse(): ParsedJson {
    while (!this.run());
    if (this.fault !== undefined) return { ok: false, fault: this.fault };
    try {
      // The scan has accepted it, so it is JSON, and no key can touch a prototype.
      return { ok: true, value: this.#escaped.parse() as Json };
    } catch {
      return { ok: false, fault: { code: "too_deep" } }; // by limits that are wider than the reader's own
    }
  }

  #readTo(stop: number): boolean {
    while (this.#at < stop) {
      if (this.#start >= 0) this.#string(stop);
      else {
        this.#space(stop);
        if (this.#at >= stop) return false;
        if (this.#next === "end") {
          if (this.#at < this.#text.length) this.#refuse("trailing_data");
          return true;
        }
        this.#token();
      }
    }
    return false;
  }

  #token(): void {
    switch (this.#next) {
      case "valueOrClose":
        return this.#take(closeList) ? this.#close() : this.#value();
      case "value":
        return this.#value();
      case "keyOrClose":
        return this.#take(closeObject) ? this.#close() : this.#key();
      case "key":
        return this.#key();
      case "colon":
        if (!this.#take(colon)) this.#unexpected();
        this.#next = "value";
        return;
      default:
        return this.#after();
    }
  }

  #value(): void {
    this.#values += 1;
    if (this.#values > (this.#limits.values ?? Infinity)) this.#refuse("too_large");
    switch (this.#code()) {
      case 0x7b: // {
        return this.#enter(closeObject);
      case 0x5b: // [
        return this.#enter(closeList);
      case quote:
        return this.#enterString();
      case 0x74:
        return this.#word("true");
      case 0x66:
        return this.#word("false");
      case 0x6e:
        return this.#word("null");
      default:
        return this.#number();
    }
  }

  #enter(close: number): void {
    if (this.#around.length >= this.#limits.depth) this.#refuse("too_deep");
    this.#at += 1;
    this.#around.push(this.#open);
    const isObject = close === closeObject;
    this.#open = { close, keys: isObject ? new Set() : outside.keys };
    this.#next = isObject ? "keyOrClose" : "valueOrClose";
  }

  #close(): void {
    this.#open = this.#around.pop() ?? outside;
    this.#valueEnded();
  }

  #valueEnded(): void {
    this.#next = this.#open === outside ? "end" : "after";
  }

  /** What follows a value in a list or an object: its end, or a comma. */
  #after(): void {
    const { close } = this.#open;
    if (this.#take(close)) this.#close();
    else if (this.#take(comma)) this.#next = close === closeList ? "value" : "key";
    else this.#unexpected();
  }

  #key(): void {
    if (this.#code() !== quote) this.#unexpected();
    this.#enterString();
  }

  #enterString(): void {
    this.#start = this.#at;
    this.#at += 1;
    this.#half = -1;
    this.#isUnsure = false;
  }

  /** Reads on in a string, to its end or to the stop. */
  #string(stop: number): void {
    const text = this.#text;
    // Most of a text stands in its strings, and a local index is several times as fast as a field.
    let at = this.#at;
    let code = text.charCodeAt(at);
    for (; code !== quote && at < stop; code = text.charCodeAt(at)) {
      if (code === backslash) {
        this.#at = at;
        this.#escape();
        at = this.#at;
      } else if (code >= 0x20) at += 1;
      else {
        this.#at = at;
        this.#unexpected();
      }
    }
    this.#at = at;
    if (code === quote && at < stop) this.#endString();
  }

  /** A key is decoded, because keys are compared so: `\u005f` is `_`. A value is only checked, if that is enough. */
  #endString(): void {
    const start = this.#start;
    const isKey = this.#next !== "value" && this.#next !== "valueOrClose";
    const raw = this.#text.slice(start + 1, this.#at);
    const isDecoded = this.#isUnsure || this.#half >= 0 || (isKey && raw.includes("\\"));
    const text = isDecoded ? (JSON.parse(`"${raw}"`) as string) : raw;
    if (!text.isWellFormed()) this.#refuse("malformed_text", start);
    if (isKey) this.#keyEnded(text, isDecoded);
    else this.#valueEnded();
    this.#start = -1;
    this.#at += 1;
  }

  #keyEnded(key: string, isEscaped: boolean): void {
    const open = this.#open;
    const start = this.#start;
    if (isForbiddenKey(key, this.#around.at(-1)?.key)) this.#refuse("forbidden_key", start, key);
    if (open.keys.has(key)) this.#refuse("duplicate_key", start, key);
    open.keys.add(key);
    if (open.keys.size > this.#limits.keys) this.#refuse("too_large", start);
    open.key = key;
    if (isEscaped) this.#escaped.add(key, start, this.#at + 1);
    this.#next = "colon";
  }

  #escape(): void {
    const start = this.#at;
    this.#at += 1;
    const isCode = this.#code() === 0x75; // u
    this.#letter('"\\/bfnrtu');
    if (!isCode) return;
    for (let digit = 0; digit < 4; digit += 1) this.#letter("0123456789abcdefABCDEF");
    // Most codes are no half of a pair: those begin with d8 to df.
    if ((this.#text.charCodeAt(start + 2) | 0x20) !== 0x64) return;
    const code = Number.parseInt(this.#text.slice(start + 2, this.#at), 16);
    if (code < 0xd800) return;
    if (code < 0xdc00) {
      this.#isUnsure ||= this.#half >= 0;
      this.#half = this.#at;
    } else {
      this.#isUnsure ||= this.#half !== start;
      this.#half = -1;
    }
  }

  #letter(allowed: string): void {
    const letter = this.#text.charAt(this.#at);
    if (letter === "" || !allowed.includes(letter)) this.#unexpected();
    this.#at += 1;
  }

  #word(word: string): void {
    const found = this.#text.slice(this.#at, this.#at + word.length);
    if (found === word) {
      this.#at += word.length;
      this.#valueEnded();
    } else if (this.#at + found.length === this.#text.length && word.startsWith(found)) {
      this.#refuse("truncated", this.#text.length);
    } else {
      this.#refuse("bad_json");
    }
  }

  /** Written out in digits, a number must be held exactly; with an exponent it is an approximation. */
  #number(): void {
    const start = this.#at;
    this.#take(0x2d); // -
    if (!this.#take(0x30) && !this.#digits()) this.#unexpected();
    if (this.#take(0x2e) && !this.#digits()) this.#unexpected();
    const exponent = this.#take(0x65) || this.#take(0x45);
    if (exponent) {
      if (!this.#take(0x2b)) this.#take(0x2d);
      if (!this.#digits()) this.#unexpected();
    }
    // Inside a list or an object something must follow, and it may be more of the number.
    if (this.#open !== outside && this.#at >= this.#text.length) this.#refuse("truncated");
    const size = Math.abs(Number(this.#text.slice(start, this.#at)));
    if (size > (exponent ? Number.MAX_VALUE : Number.MAX_SAFE_INTEGER)) {
      this.#refuse("inexact_number", start);
    }
    this.#valueEnded();
  }

  #digits(): boolean {
    const text = this.#text;
    const start = this.#at;
    let at = start;
    for (let code = text.charCodeAt(at); code >= 0x30 && code <= 0x39; code = text.charCodeAt(at)) {
      at += 1;
      if (at - start > maxDigits) this.#refuse("too_large", start);
    }
    this.#at = at;
    return at > start;
  }

  #space(stop: number): void {
    const text = this.#text;
    let at = this.#at;
    while (at < stop && isSpace(text.charCodeAt(at))) at += 1;
    this.#at = at;
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #take(code: number): boolean {
    if (this.#code() !== code) return false;
    this.#at += 1;
    return true;
  }

  #unexpected(): never {
    return this.#refuse(this.#at >= this.#text.length ? "truncated" : "bad_json");
  }

  #refuse(code: JsonFaultCode, at = this.#at, key?: string): never {
    this.fault = key === undefined ? { code, at } : { code, at, key };
    throw refused;
  }
}
