/**
 * `JSON.parse`, with the keys that the text spells. Since V8 12.8 the engine may confuse an escaped
 * key with another key that it parsed before, in any text (nodejs/node#63785): a tool would run on
 * other input than its call has. So a text with an escaped key is parsed here, and all others by the
 * engine. Throws a SyntaxError for what is not JSON. Linear in the text.
 */
export function parseJsonText(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return hasEscapedKey(text) ? readJson(text) : value;
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

/** Reads text that is known to be JSON, without the engine. Single strings and numbers are safe with it. */
export function readJson(text: string): unknown {
  /** A bracket or a word behind white space and separators; nothing before a string. */
  const mark = /[\s,:]*([[\]{}]|[^\s,:[\]{}"]*)/y;
  const next = (): string => {
    const [, token = ""] = mark.exec(text) ?? [];
    if (token !== "") return token;
    const start = mark.lastIndex;
    mark.lastIndex = endOfString(text, start + 1);
    return text.slice(start, mark.lastIndex);
  };
  const valueOf = (token: string, depth: number): unknown => {
    if (depth > maxDepth) throw new SyntaxError(`JSON nested deeper than ${maxDepth}`);
    if (token !== "[" && token !== "{") return JSON.parse(token);
    const rows: unknown[] = [];
    for (let at = next(); at !== "]" && at !== "}"; at = next()) {
      rows.push(
        token === "[" ? valueOf(at, depth + 1) : [JSON.parse(at), valueOf(next(), depth + 1)],
      );
    }
    // Defines its keys and assigns none: `__proto__` is data like any other.
    return token === "[" ? rows : Object.fromEntries(rows as [string, unknown][]);
  };
  return valueOf(next(), 0);
}
