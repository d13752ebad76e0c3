import type { Json } from "@millrace/core";

/** Deeper values are not copied here. Arguments never are: their parser stops before. */
const maxDepth = 200;

/**
 * A copy of plain data: objects without a class, lists, dates, and values that can't be changed.
 * Undefined if there is anything else in it, or if it has no end: such a value can't be copied
 * faithfully from outside.
 */
export function twinOf(value: unknown): { readonly value: unknown } | undefined {
  try {
    return { value: copy(value, 0) };
  } catch (error) {
    if (error === unfaithful) return undefined;
    throw error;
  }
}

/** Arguments that can't be changed, for a hook to look at. Trying to change them throws there. */
export function frozen<T extends Json>(input: T): T {
  return freeze(copy(input, 0)) as T; // a copy has the shape of its original
}

const unfaithful = new Error("not plain data");

function copy(value: unknown, depth: number): unknown {
  if (typeof value === "function") throw unfaithful;
  if (typeof value !== "object" || value === null) return value;
  if (depth > maxDepth) throw unfaithful;
  if (Array.isArray(value)) return value.map((row) => copy(row, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Date.prototype) return new Date((value as Date).getTime()); // by its prototype
  if (prototype !== Object.prototype && prototype !== null) throw unfaithful;
  const made: object = Object.create(prototype) as object; // null or the plain prototype, so plain
  for (const key of Reflect.ownKeys(value)) {
    const field = Object.getOwnPropertyDescriptor(value, key);
    if (field === undefined || !("value" in field)) throw unfaithful; // a getter may answer anything
    Object.defineProperty(made, key, { ...field, value: copy(field.value, depth + 1) });
  }
  return made;
}

function freeze(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  for (const child of Object.values(value)) freeze(child);
  return Object.freeze(value);
}
