/**
 * `JSON.parse`, with the keys that the text spells. Since V8 12.8 the engine may confuse an escaped
 * key with another key that it parsed before, in any text (nodejs/node#63785): a tool would run on
 * other input than its call has. So a text with an escaped key is parsed here, and all others by the
 * engine. Throws a SyntaxError for what is not JSON. Linear in the text.
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedKey(text) ? new Reader(text).value(0) : value;
}

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
/** Deeper texts are refused, since this parser recurses. No message nests this deep. */
const maxDepth = 2_000;

/** Whether a string with a backslash in it is followed by a colon. The text is known to be JSON. */
function hasEscapedKey(text: string): boolean {
  // Backslashes stand in strings only, and the first one of a string begins an escape.
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", at)) {
    at = endOfString(text, at);
    while (isSpace(text.charCodeAt(at))) at += 1;
    if (text.charCodeAt(at) === colon) return true;
  }
  return false;
}

/** The index after the end of the string that contains `from`, which is not inside an escape. */
function endOfString(text: string, from: number): number {
  let at = from;
  for (let code = text.charCodeAt(at); code !== quote; code = text.charCodeAt(at)) {
    at += code === backslash ? 2 : 1;
  }
  return at + 1;
}

/** White space of JSON. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}

/** Reads text that is known to be JSON. Single strings and numbers are safe with the engine. */
class Reader {
  readonly #text: string;
  readonly #word = /[^\s,\]}]+/y;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): unknown {
    if (depth > maxDepth) throw new SyntaxError(`JSON nested deeper than ${maxDepth}`);
    switch (this.#peek()) {
      case "{":
        return this.#object(depth);
      case "[":
        return this.#array(depth);
      case '"':
        return this.#string();
      default:
        return this.#scalar();
    }
  }

  #object(depth: number): object {
    const record: Record<string, unknown> = {};
    for (this.#at += 1; this.#peek() !== "}"; this.#skip(",")) {
      const key = this.#string();
      this.#skip(":");
      const value = this.value(depth + 1);
      // Defined, not assigned: a key `__proto__` is data like any other.
      Object.defineProperty(record, key, {
        value,
        enumerable: true,
        writable: true,
        configurable: true,
      });
    }
    this.#at += 1;
    return record;
  }

  #array(depth: number): readonly unknown[] {
    const rows: unknown[] = [];
    for (this.#at += 1; this.#peek() !== "]"; this.#skip(",")) rows.push(this.value(depth + 1));
    this.#at += 1;
    return rows;
  }

  #string(): string {
    this.#peek();
    const start = this.#at;
    this.#at = endOfString(this.#text, start + 1);
    return JSON.parse(this.#text.slice(start, this.#at)) as string;
  }

  /** A number, true, false or null. */
  #scalar(): unknown {
    this.#word.lastIndex = this.#at;
    const [token = ""] = this.#word.exec(this.#text) ?? [];
    this.#at += token.length;
    return JSON.parse(token);
  }

  #skip(letter: string): void {
    if (this.#peek() === letter) this.#at += 1;
  }

  /** The next letter that is not white space. */
  #peek(): string {
    while (isSpace(this.#text.charCodeAt(this.#at))) this.#at += 1;
    return this.#text.charAt(this.#at);
  }
}
