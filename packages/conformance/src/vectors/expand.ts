import type { Json } from "@millrace/core";

/** Lists that many vectors of a file begin with, by their names. */
export type Givens = Readonly<Record<string, readonly Json[]>>;

/**
 * Expands the forms by which a vector describes a text too long for its file, or a list that other
 * vectors of the file share:
 *
 * - `{ "$repeat": ["ab", 3] }` is `"ababab"`
 * - `{ "$count": ["k#,", 3] }` is `"k0,k1,k2,"`
 * - `{ "$join": [form or text, …] }` is all of them in one text
 * - `{ "$given": "name" }`, as an element of a list, is the elements of the given of that name
 *
 * An implementation gets only expanded vectors.
 */
export function expand(value: Json, givens: Givens = {}): Json {
  if (Array.isArray(value))
    return value.flatMap((element: Json) => givenOf(element, givens) ?? [expand(element, givens)]);
  if (typeof value !== "object" || value === null) return value;
  return (
    expandText(value) ??
    // Not by assignment: a vector may have the key `__proto__`, and must keep it.
    Object.fromEntries(Object.entries(value).map(([key, child]) => [key, expand(child, givens)]))
  );
}

/** A given may begin with another one. */
function givenOf(element: Json, givens: Givens): readonly Json[] | undefined {
  if (typeof element !== "object" || element === null) return undefined;
  const { $given: name } = element as { readonly $given?: Json };
  if (typeof name !== "string") return undefined;
  const given = givens[name];
  if (given === undefined) throw new Error(`there is no given named ${name}`);
  return expand([...given], givens) as readonly Json[];
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
