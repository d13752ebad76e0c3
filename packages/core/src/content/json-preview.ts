import { defaultJsonLimits, isForbiddenKey } from "../json.ts";
import { isSpace, parseJsonText } from "../parse-json.ts";

/** What may come next. `over`: nothing more is taken. */
type Mode =
  | "value"
  | "row"
  | "field"
  | "key"
  | "colon"
  | "name"
  | "string"
  | "token"
  | "next"
  | "over";

/** A list or an object that is not closed, and the place of its newest value. */
interface Open {
  rows: Record<string | number, unknown> | unknown[];
  key: string | number;
}

const quote = 0x22;
const backslash = 0x5c;
const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

/**
 * What a JSON text says as far as it has come, for display only: strings as far as they are there, without
 * half a character or escape; numbers and words once something follows them; a field once its value has
 * begun. The whole text says what `JSON.parse` reads. Text that is not JSON, or that nests too deep, is
 * taken up to there. A piece of text costs by its own length. A value that was read never changes: reading
 * again after more text copies the references of those lists and objects that are still open, and no other.
 */
export class JsonPreview {
  #root: unknown;
  readonly #open: Open[] = [];
  #mode: Mode = "value";
  /** Of the string, name or token that is being read. Never looked into: that would copy all of it each time. */
  #text = "";
  /** Half a character, or the beginning of an escape. */
  #half = "";
  #escape = "";
  /** How much of the string is in the value. */
  #shown = 0;
  #isRead = false;

  feed(text: string): void {
    for (let at = 0; at < text.length && this.#mode !== "over";) {
      if (this.#mode === "string" || this.#mode === "name") at = this.#inString(text, at);
      else if (this.#mode === "token") at = this.#inToken(text, at);
      else if (isSpace(text.charCodeAt(at))) at += 1;
      else at = this.#mark(text.charAt(at), at);
    }
    if (this.#mode !== "string" || this.#text.length === this.#shown) return;
    this.#shown = this.#text.length;
    this.#put(this.#text);
  }

  /** Undefined until something can be shown. */
  get value(): unknown {
    this.#isRead = true;
    return this.#root;
  }

  /** Takes a mark between values, or leaves it to the token that it begins. */
  #mark(mark: string, at: number): number {
    const top = this.#open.at(-1);
    const isList = Array.isArray(top?.rows);
    switch (this.#mode) {
      case "row":
        if (mark === "]") return this.#close(at);
        return this.#begin(mark, at);
      case "value":
        return this.#begin(mark, at);
      case "field":
        if (mark === "}") return this.#close(at);
        return this.#to(mark === '"' ? "name" : "over", at);
      case "key":
        return this.#to(mark === '"' ? "name" : "over", at);
      case "colon":
        return this.#to(mark === ":" ? "value" : "over", at);
      default: // a value is complete
        if (top === undefined) return this.#to("over", at);
        if (mark === (isList ? "]" : "}")) return this.#close(at);
        return this.#to(mark === "," ? (isList ? "value" : "key") : "over", at);
    }
  }

  #to(mode: Mode, at: number): number {
    this.#mode = mode;
    this.#text = "";
    return at + 1;
  }

  #begin(mark: string, at: number): number {
    const top = this.#open.at(-1);
    if (top !== undefined && Array.isArray(top.rows)) top.key = top.rows.length;
    if (mark !== "{" && mark !== "[") {
      if (mark !== '"') return this.#to("token", at - 1);
      this.#put("");
      this.#shown = 0;
      return this.#to("string", at);
    }
    if (this.#open.length >= defaultJsonLimits.depth) return this.#to("over", at);
    const rows = mark === "{" ? {} : [];
    this.#put(rows);
    this.#open.push({ rows, key: "" });
    return this.#to(mark === "{" ? "field" : "row", at);
  }

  #close(at: number): number {
    this.#open.pop();
    return this.#to("next", at);
  }

  /** A number or a word, up to the mark that follows it. */
  #inToken(text: string, from: number): number {
    let at = from;
    while (at < text.length && !",]}".includes(text.charAt(at)) && !isSpace(text.charCodeAt(at))) {
      at += 1;
    }
    this.#text += text.slice(from, at);
    if (at === text.length) return at;
    const isWhole = scalar.test(this.#text);
    if (isWhole) this.#put(parseJsonText(this.#text));
    return this.#to(isWhole ? "next" : "over", at - 1);
  }

  #inString(text: string, from: number): number {
    if (this.#escape !== "") return this.#inEscape(text.charAt(from), from);
    let at = from;
    let code = text.charCodeAt(at);
    while (code !== quote && code !== backslash && code >= 0x20) code = text.charCodeAt((at += 1));
    this.#append(text.slice(from, at));
    if (at === text.length) return at;
    if (code === backslash) this.#escape = "\\";
    else if (code === quote) this.#endString();
    else this.#mode = "over";
    return at + 1;
  }

  #inEscape(letter: string, at: number): number {
    this.#escape += letter;
    const { length } = this.#escape;
    if (length === 2 && letter !== "u") {
      const meant = escapes[letter];
      if (meant === undefined) this.#mode = "over";
      else this.#append(meant);
      this.#escape = "";
    } else if (length > 2) {
      if (!/[0-9a-f]/i.test(letter)) this.#mode = "over";
      if (length === 6) {
        this.#append(String.fromCharCode(Number.parseInt(this.#escape.slice(2), 16)));
        this.#escape = "";
      }
    }
    return at + 1;
  }

  #append(piece: string): void {
    const whole = this.#half + piece;
    const last = whole.charCodeAt(whole.length - 1);
    const isHalf = last >= 0xd800 && last < 0xdc00;
    this.#half = isHalf ? whole.slice(-1) : "";
    this.#text += isHalf ? whole.slice(0, -1) : whole;
  }

  #endString(): void {
    const text = this.#text + this.#half;
    this.#half = "";
    if (this.#mode === "string") {
      this.#put(text);
      this.#mode = "next";
      return;
    }
    const top = this.#open.at(-1) as Open; // a name stands in an object
    this.#mode = isForbiddenKey(text, String(this.#open.at(-2)?.key)) ? "over" : "colon";
    top.key = text;
  }

  /** Sets the newest value. What was read is left as it is. */
  #put(value: unknown): void {
    if (this.#isRead) {
      this.#isRead = false;
      let above: Open | undefined;
      for (const each of this.#open) {
        each.rows = Array.isArray(each.rows) ? each.rows.slice() : { ...each.rows };
        if (above === undefined) this.#root = each.rows;
        else set(above, each.rows);
        above = each;
      }
    }
    const top = this.#open.at(-1);
    if (top === undefined) this.#root = value;
    else set(top, value);
  }
}

function set({ rows, key }: Open, value: unknown): void {
  (rows as Record<string | number, unknown>)[key] = value; // a list has numbers as keys
}
