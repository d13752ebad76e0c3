import type { Json } from "@millrace/core";

/**
 * Expands the generator forms by which a vector describes a text too long for its file:
 *
 * - `{ "$repeat": ["ab", 3] }` is `"ababab"`
 * - `{ "$count": ["k#,", 3] }` is `"k0,k1,k2,"`
 * - `{ "$join": [form or text, …] }` is all of them in one text
 *
 * An implementation gets only expanded vectors.
 */
export function expand(value: Json): Json {
  if (Array.isArray(value)) return value.map((element: Json) => expand(element));
  if (typeof value !== "object" || value === null) return value;
  return (
    expandText(value) ??
    // Not by assignment: a vector may have the key `__proto__`, and must keep it.
    Object.fromEntries(Object.entries(value).map(([key, child]) => [key, expand(child)]))
  );
}

function expandText(value: object): string | undefined {
  const [entry, ...others] = Object.entries(value) as [string, Json][];
  if (entry === undefined || others.length > 0) return undefined;
  const [form, operands] = entry;
  if (!Array.isArray(operands)) return undefined;
  const [piece, times] = operands as readonly Json[];
  switch (form) {
    case "$repeat":
      return (piece as string).repeat(times as number);
    case "$count":
      return Array.from({ length: times as number }, (_, at) =>
        (piece as string).replaceAll("#", `${at}`),
      ).join("");
    case "$join":
      return (operands as readonly Json[]).map((operand) => expand(operand) as string).join("");
    default:
      return undefined;
  }
}
