import type { JsonObject } from "@millrace/core";

/** The index of a block. Servers that imitate the vendor leave it out. */
export function indexOf(data: JsonObject): number | undefined {
  const value = data["index"];
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** Characters that are white space for the vendor, but not for `trim`. */
const otherSpace: ReadonlySet<string> = new Set(["\u001c", "\u001d", "\u001e", "\u001f", "\u0085"]);

/** True for text that the vendor treats as empty. */
export function isBlank(text: string): boolean {
  return withoutLastSpace(text) === "";
}

export function withoutLastSpace(text: string): string {
  let rest = text.trimEnd();
  while (otherSpace.has(rest.slice(-1))) rest = rest.slice(0, -1).trimEnd();
  return rest;
}
