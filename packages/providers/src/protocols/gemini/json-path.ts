/** A path in a call's arguments: keys of objects and indexes of lists, from the root. */
export interface JsonPath {
  readonly segments: readonly (string | number)[];
  /** True if the path ends in `[]`: the list itself, not one of its elements. */
  readonly list: boolean;
}

/** `.name`, `[0]`, `['name']`, `["name"]` or `[]`. */
const segment = /\.([^.[]+)|\[(\d{1,9})\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]|(\[\])/sy;

/** Parses the forms of RFC 9535 that name one place, and the vendor's `$.list[]`. */
export function parsePath(text: string): JsonPath | undefined {
  if (!text.startsWith("$")) return undefined;
  const segments: (string | number)[] = [];
  let at = 1;
  while (at < text.length) {
    segment.lastIndex = at;
    const [whole, name, index, single, double, list] = segment.exec(text) ?? [];
    if (whole === undefined) return undefined;
    at += whole.length;
    if (list !== undefined) {
      return at === text.length && segments.length > 0 ? { segments, list: true } : undefined;
    }
    if (name !== undefined) segments.push(name);
    else if (index !== undefined) segments.push(Number(index));
    else segments.push(unescaped(single ?? double ?? ""));
  }
  return segments.length === 0 ? undefined : { segments, list: false };
}

const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

function unescaped(name: string): string {
  if (!name.includes("\\")) return name;
  return name.replaceAll(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, code?: string, letter?: string) =>
    code === undefined
      ? (escapes[letter ?? ""] ?? letter ?? "")
      : String.fromCharCode(Number.parseInt(code, 16)),
  );
}
