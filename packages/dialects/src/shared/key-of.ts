import { createHash } from "node:crypto";

/** A key by which a repeat is known, of what names the request in the page. */
export function keyOf(...names: readonly string[]): string {
  const text = JSON.stringify(names);
  return `ai-${createHash("sha256").update(text).digest("hex").slice(0, 40)}`;
}
