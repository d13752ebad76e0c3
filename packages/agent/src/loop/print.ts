import type { JsonObject, ToolCallPart } from "@millrace/core";

/**
 * A short hash of a call: equal for calls of one tool with equal input. Keeps the state small. Not
 * cryptographic, because only the detection of repeated calls uses it.
 */
export function printOf({ tool, input, raw }: ToolCallPart): string {
  return digest(`${tool}\n${input === undefined ? raw : inOrder(input)}`);
}

/** JSON with sorted keys, so that the order in which a model writes them does not matter. */
function inOrder(input: JsonObject): string {
  return JSON.stringify(input, (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
}

/** 64 bits of the text by FNV-1a, in two halves. */
function digest(text: string): string {
  let low = 0x811c9dc5;
  let high = 0x1000193;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ unit, 0x85ebca6b);
  }
  return `${(high >>> 0).toString(36)}.${(low >>> 0).toString(36)}`;
}
