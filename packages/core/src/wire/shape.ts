import { isJsonObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { decodeBase64, encodeBase64 } from "./base64.ts";

/** How one type is encoded on the wire. Decoding reads only known fields, and checks each of them. */
export interface Shape<T> {
  readonly encode: (value: T) => Json;
  readonly decode: (value: unknown, path: string) => T;
}

export type WireFaultCode =
  | "not_json"
  /** A field is missing or has another type than in the protocol. */
  | "malformed"
  /** A delta of a newer version: a reader must take a snapshot instead of guessing. */
  | "unknown_op"
  | "unsupported_version";

/** Why a text from the wire can't be read. */
export interface WireFault {
  readonly code: WireFaultCode;
  /** Where, as `events[3].delta.chunk`. */
  readonly path: string;
  readonly message: string;
}

/** A value that was read, or the first fault in it. */
export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: WireFault };

class Malformed extends Error {
  readonly fault: WireFault;
  constructor(fault: WireFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Leaves a decoder with a fault. Caught in `decodeBy`, and nowhere else. */
export function malformed(
  path: string,
  expected: string,
  code: WireFaultCode = "malformed",
): never {
  throw new Malformed({
    code,
    path,
    message: `${path === "" ? "the record" : path}: expected ${expected}`,
  });
}

export function decodeBy<T>(shape: Pick<Shape<T>, "decode">, value: unknown): Decoded<T> {
  try {
    return { ok: true, value: shape.decode(value, "") };
  } catch (error) {
    if (error instanceof Malformed) return { ok: false, fault: error.fault };
    throw error;
  }
}

/** Values nest at most this deep: a process that forwards one must be able to encode it again. */
const maxDepth = 128;

function withinDepth(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((child) => withinDepth(child, depth - 1));
}

function plain<T extends Json>(is: (value: unknown) => boolean, expected: string): Shape<T> {
  return {
    encode: (value) => value,
    decode: (value, path) => (is(value) ? (value as T) : malformed(path, expected)),
  };
}

export const text: Shape<string> = plain((value) => typeof value === "string", "a string");
export const flag: Shape<boolean> = plain((value) => typeof value === "boolean", "true or false");
export const amount: Shape<number> = plain(
  (value) => typeof value === "number" && value >= 0,
  "a number of 0 or more",
);
/** A whole number of 0 or more that a double holds exactly. */
export const count: Shape<number> = plain(
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  "a whole number",
);
/** A count that fits the bits of an epoch that it goes into. */
export const incarnation: Shape<number> = plain(
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 23,
  "an incarnation of 23 bits",
);
export const json: Shape<Json> = plain(
  (value) => value !== undefined && withinDepth(value, maxDepth),
  "a value that is not too deep",
);
export const jsonObject: Shape<JsonObject> = plain(
  (value) => isJsonObject(value) && withinDepth(value, maxDepth),
  "an object that is not too deep",
);

export const bytes: Shape<Uint8Array> = {
  encode: encodeBase64,
  decode: (value, path) =>
    (typeof value === "string" ? decodeBase64(value) : undefined) ??
    malformed(path, "bytes in base64"),
};

/** An id, admitted by the one function that makes it. */
export function id<T extends string>(admit: (value: string) => T): Shape<T> {
  return {
    encode: (value) => value,
    decode: (value, path) => {
      if (typeof value !== "string") return malformed(path, "an id");
      try {
        return admit(value);
      } catch {
        return malformed(path, "an id that can be one");
      }
    },
  };
}

export function oneOf<T extends string | number | boolean>(...options: readonly T[]): Shape<T> {
  return plain((value) => (options as readonly unknown[]).includes(value), options.join(" or "));
}

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    encode: (values) => values.map(shape.encode),
    decode: (value, path) => {
      if (!Array.isArray(value)) return malformed(path, "a list");
      return value.map((element, index) => shape.decode(element, `${path}[${index}]`));
    },
  };
}

export interface Optional<T> {
  readonly optional: Shape<T>;
}

export function optional<T>(shape: Shape<T>): Optional<T> {
  return { optional: shape };
}

/** One entry for each field of the type: the compiler refuses a table that leaves one out. */
export type Fields<T> = {
  readonly [Key in keyof T]-?: undefined extends T[Key]
    ? Optional<Exclude<T[Key], undefined>>
    : Shape<T[Key]>;
};

export interface ObjectShape<T> extends Shape<T> {
  readonly encode: (value: T) => JsonObject;
}

export function object<T extends object>(fields: Fields<T>): ObjectShape<T> {
  const entries = Object.entries(fields) as [string, Shape<unknown> | Optional<unknown>][];
  return {
    encode: (value) => {
      const encoded: Record<string, Json> = {};
      for (const [key, field] of entries) {
        const own = (value as Record<string, unknown>)[key];
        if (own !== undefined)
          encoded[key] = ("optional" in field ? field.optional : field).encode(own);
      }
      return encoded;
    },
    decode: (value, path) => {
      if (!isJsonObject(value)) return malformed(path, "an object");
      const decoded: Record<string, unknown> = {};
      for (const [key, field] of entries) {
        const own = Object.hasOwn(value, key) ? value[key] : undefined;
        const at = path === "" ? key : `${path}.${key}`;
        if (!("optional" in field)) decoded[key] = field.decode(own, at);
        else if (own !== undefined) decoded[key] = field.optional.decode(own, at);
      }
      return decoded as T; // every field has been decoded by its own shape
    },
  };
}

/** The shape of any object. */
export interface AnyShape {
  readonly encode: (value: never) => Json;
  readonly decode: (value: unknown, path: string) => object;
}

/**
 * A union with a tag field. The table has an entry for each tag that this version knows; `unknown`
 * handles the others.
 */
export function tagged<T extends object, Tag extends keyof T & string>(
  tag: Tag,
  shapes: Readonly<Record<Exclude<T[Tag] & string, "opaque">, AnyShape>>,
  unknown: AnyShape,
): ObjectShape<T> {
  const table = new Map<unknown, AnyShape>(Object.entries(shapes));
  const shapeOf = (name: unknown): Shape<T> => (table.get(name) ?? unknown) as unknown as Shape<T>;
  return {
    encode: (value) => shapeOf(value[tag]).encode(value) as JsonObject,
    decode: (value, path) => {
      if (!isJsonObject(value)) return malformed(path, "an object");
      return shapeOf(value[tag]).decode(value, path);
    },
  };
}

/**
 * A shape with a rule that goes beyond single fields. `broken` gives what was expected instead, if the
 * rule is broken. `T` is narrower than what the fields alone admit.
 */
export function checked<Loose extends object, T extends Loose>(
  shape: ObjectShape<Loose>,
  broken: (decoded: Loose) => string | false,
): ObjectShape<T> {
  return {
    encode: shape.encode,
    decode: (value, path) => {
      const decoded = shape.decode(value, path);
      const expected = broken(decoded);
      return expected === false ? (decoded as T) : malformed(path, expected);
    },
  };
}

/** For types with two forms, distinguished by which of two fields is there. `T` is their union. */
export function exactlyOne<T extends object>(
  shape: AnyShape,
  one: string,
  other: string,
): ObjectShape<T> {
  return checked<object, T>(
    shape as ObjectShape<object>,
    (decoded) => one in decoded === other in decoded && `either ${one} or ${other}`,
  );
}
