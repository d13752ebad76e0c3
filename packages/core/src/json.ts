/** A value that survives JSON unchanged. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** A JSON object: string keys, JSON values. */
export interface JsonObject {
  readonly [key: string]: Json;
}

/**
 * What arrives of a value that goes through JSON, as the outputs of tools do: what `JSON.stringify` makes
 * of it, and three things that it can't write. A bigint becomes the string of its digits, a Set the list
 * of its values, a Map the list of its entries, so that `new Set(…)` and `new Map(…)` make them again.
 * A Date becomes a string, and so does what else has a `toJSON`. Fields that are undefined or functions
 * are left out, in a list they are null. `never` is what no output can hold, such as bytes and promises.
 * Of a class there are its own fields: accessors are in its type, but not in its JSON.
 */
export type JsonOf<T> = unknown extends T
  ? Json
  : T extends Json
    ? T
    : T extends bigint
      ? string
      : T extends LeftOut | NeverJson
        ? never
        : T extends { readonly toJSON: (...args: never) => infer Made }
          ? JsonOf<Made>
          : T extends ReadonlyMap<infer Key, infer Value>
            ? [JsonRow<Key>, JsonRow<Value>][]
            : T extends ReadonlySet<infer Value>
              ? JsonRow<Value>[]
              : T extends readonly unknown[]
                ? { [At in keyof T]: JsonRow<T[At]> }
                : T extends object
                  ? JsonFields<T> extends infer Fields
                    ? { [Key in keyof Fields]: Fields[Key] } // one object in an editor, not two
                    : never
                  : never;

/** What stands in a list for a value. */
type JsonRow<T> = unknown extends T ? Json : JsonOf<T> | (T extends LeftOut ? null : never);

/** A field that may be left out is optional, whichever way its type says so. */
type JsonFields<T> = {
  [Key in keyof T as Always<Key, T[Key]>]: JsonOf<T[Key]>;
} & {
  [Key in keyof T as Sometimes<Key, T[Key]>]?: JsonOf<Exclude<T[Key], LeftOut>>;
};

type Always<Key, Value> = Key extends symbol
  ? never
  : [Exclude<Value, LeftOut>] extends [never]
    ? never
    : string extends Key
      ? Key // keys of any name: none of them has to be there
      : undefined extends Value
        ? never
        : [Extract<Value, LeftOut>] extends [never]
          ? Key
          : never;

type Sometimes<Key, Value> = Key extends symbol | Always<Key, Value>
  ? never
  : [Exclude<Value, LeftOut>] extends [never]
    ? never
    : Key;

/** What JSON leaves out. */
type LeftOut =
  | undefined
  | symbol
  | ((...args: never) => unknown)
  | (abstract new (...args: never) => unknown);

/** What has no fields of use, and no JSON. */
type NeverJson = ArrayBuffer | ArrayBufferView | RegExp | Promise<unknown>;

/** Facts about a part or item that are not its content. Set or replaced whole, never merged. */
export type Metadata = JsonObject;

/** How large a JSON value or text may be. All are memory bounds; text counts UTF-16 units. */
export interface JsonLimits {
  readonly depth: number;
  /** Keys of one object. */
  readonly keys: number;
  /** The whole text. */
  readonly length: number;
  /** Values in all, in lists and objects of any depth too. Left out: as many as the text has room for. */
  readonly values?: number | undefined;
}

export const defaultJsonLimits: JsonLimits = { depth: 64, keys: 10_000, length: 2 * 1024 * 1024 };

/** What is wrong with a JSON text or value. Nothing is ever repaired. */
export type JsonFaultCode =
  | "bad_json"
  /** The text ends before its value does. */
  | "truncated"
  /** A whole value, and then something else. */
  | "trailing_data"
  /** Two parsers may disagree on which of the two counts, so neither does. */
  | "duplicate_key"
  /** `__proto__`, or `prototype` inside `constructor`. */
  | "forbidden_key"
  | "too_deep"
  | "too_large"
  /** A number beyond 2^53 - 1 without an exponent, or beyond all: it would be rounded in silence. */
  | "inexact_number"
  /** Half of a surrogate pair: it can't be stored or sent as UTF-8. */
  | "malformed_text"
  /** Not JSON at all: undefined, a function, a cycle, a class instance. */
  | "not_json";

export interface JsonFault {
  readonly code: JsonFaultCode;
  /** Where in the text, in UTF-16 units. */
  readonly at?: number;
  /** The key or path that it is about. */
  readonly key?: string;
}

/** True for keys by which parsed data could reach a prototype. */
export function isForbiddenKey(key: string, parent: string | undefined): boolean {
  return key === "__proto__" || (key === "prototype" && parent === "constructor");
}

/** Whether a value is an object and not a list. Its fields are not looked at. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Checks a value in memory: plain data, well-formed, within the limits. Linear in the value; a cycle
 * ends at the depth limit. Returns the first fault found.
 */
export function checkJson(
  value: unknown,
  limits: JsonLimits = defaultJsonLimits,
): JsonFault | undefined {
  let budget = limits.length;
  const visit = (
    node: unknown,
    depth: number,
    parent: string | undefined,
  ): JsonFault | undefined => {
    switch (typeof node) {
      case "string":
        budget -= node.length;
        if (!node.isWellFormed()) return { code: "malformed_text" };
        break;
      case "number":
        budget -= 8;
        if (!Number.isFinite(node)) return { code: "inexact_number" };
        break;
      case "boolean":
        budget -= 4;
        break;
      case "object": {
        if (node === null) break;
        if (depth >= limits.depth) return { code: "too_deep" };
        if (Array.isArray(node)) {
          budget -= node.length;
          if (budget < 0) return { code: "too_large" };
          for (const child of node) {
            const fault = visit(child, depth + 1, undefined);
            if (fault) return fault;
          }
          break;
        }
        const prototype: unknown = Object.getPrototypeOf(node);
        if (prototype !== Object.prototype && prototype !== null) return { code: "not_json" };
        const keys = Object.keys(node);
        if (keys.length > limits.keys) return { code: "too_large" };
        for (const key of keys) {
          budget -= key.length + 1;
          if (isForbiddenKey(key, parent)) return { code: "forbidden_key", key };
          if (!key.isWellFormed()) return { code: "malformed_text", key };
          const fault = visit((node as Record<string, unknown>)[key], depth + 1, key);
          if (fault) return fault;
        }
        break;
      }
      default:
        return { code: "not_json" };
    }
    return budget < 0 ? { code: "too_large" } : undefined;
  };
  return visit(value, 0, undefined);
}

/** Equality by value of two JSON values. The order of keys does not count. */
export function equalJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left) && Array.isArray(right)) {
    if (left.length !== right.length) return false;
    return left.every((value: Json, index) => equalJson(value, right[index] as Json));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) {
    return left === right || Object.is(left, right); // 0 and -0 are one value in JSON text
  }
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && equalJson(left[key], right[key]));
}
