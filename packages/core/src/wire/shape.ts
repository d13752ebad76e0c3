import { isJsonObject } from "../json.ts";
import type { Json, JsonObject } from "../json.ts";
import { isId, isSessionUid } from "../ids.ts";
import type { SessionUid } from "../ids.ts";
import { decodeBase64 } from "./base64.ts";

/** How one type stands on the wire. Decoding reads only known fields, and checks each of them. */
export interface Shape<T> {
  readonly decode: (value: unknown, path: string) => T;
  /** How it is written. Left out: a value is its own JSON. */
  readonly form?: Form | undefined;
}

/** Data for `encode`, which is another module: who only reads does not load it. */
export type Form =
  | { readonly by: "fields"; readonly fields: readonly Field[]; readonly type?: string }
  | { readonly by: "rows"; readonly row: { readonly form?: Form | undefined } }
  | { readonly by: "tag"; readonly tag: string; readonly shapeOf: (name: unknown) => AnyShape }
  | { readonly by: "base64" }
  /** As it came, under the fields of `own`. */
  | { readonly by: "original"; readonly own?: AnyShape };

export type Field = readonly [key: string, shape: Shape<unknown> | Optional<unknown>];

export type WireFaultCode =
  | "not_json"
  /** A field is missing or has another type than in the protocol. */
  | "malformed"
  /** A delta of a newer version: a reader must take a snapshot instead of guessing. */
  | "unknown_op"
  | "unsupported_version"
  /** A step that does not follow what its reader has: the reader joins anew with its cursor. */
  | "gap";

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

/** What is not there in the state that a step is read against: something was lost before it. */
export function gap(path: string): never {
  return malformed(path, "what the reader has", "gap");
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
  return { decode: (value, path) => (is(value) ? (value as T) : malformed(path, expected)) };
}

export const text: Shape<string> = plain((value) => typeof value === "string", "a string");
export const flag: Shape<boolean> = plain((value) => typeof value === "boolean", "true or false");
export const amount: Shape<number> = plain(
  (value) => typeof value === "number" && value >= 0,
  "a number from 0",
);
/** A whole number of 0 or more that a double holds exactly. */
export const count: Shape<number> = plain(
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  "a whole number",
);
/** A count that fits the bits of an epoch that it goes into. */
export const incarnation: Shape<number> = plain(
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 23,
  "23 bits",
);
export const json: Shape<Json> = plain(
  (value) => value !== undefined && withinDepth(value, maxDepth),
  "JSON, not too deep",
);
export const jsonObject: Shape<JsonObject> = plain(
  (value) => isJsonObject(value) && withinDepth(value, maxDepth),
  "an object, not too deep",
);

export const bytes: Shape<Uint8Array> = {
  form: { by: "base64" },
  decode: (value, path) => {
    // A step's part may hold bytes that its reader has decoded before. No JSON does.
    const bytes = typeof value === "string" ? decodeBase64(value) : value;
    return bytes instanceof Uint8Array ? bytes : malformed(path, "base64");
  },
};

/** An id of any sort. */
export function id<T extends string>(): Shape<T> {
  return anyId as unknown as Shape<T>; // sorts are known by type only
}
export const sessionUid: Shape<SessionUid> = plain(
  (value) => typeof value === "string" && isSessionUid(value),
  "a uid",
);

const anyId = plain<string>((value) => isId(value), "an id");

export function oneOf<T extends string | number | boolean>(...options: readonly T[]): Shape<T> {
  return plain((value) => (options as readonly unknown[]).includes(value), options.join(" or "));
}

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return {
    form: { by: "rows", row: shape },
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

export function object<T extends object>(given: Fields<T>): Shape<T> {
  const fields: readonly Field[] = Object.entries(given);
  return {
    form: { by: "fields", fields },
    decode: (value, path) => {
      if (!isJsonObject(value)) return malformed(path, "an object");
      const decoded: Record<string, unknown> = {};
      for (const [key, field] of fields) {
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
  readonly decode: (value: unknown, path: string) => object;
  readonly form?: Form | undefined;
}

/**
 * A union with a tag field. The table has an entry for each tag that this version knows; `unknown`
 * handles the others.
 */
export function tagged<T extends object, Tag extends keyof T & string>(
  tag: Tag,
  shapes: Readonly<Record<Exclude<T[Tag] & string, "opaque">, AnyShape>>,
  unknown: AnyShape,
): Shape<T> {
  const table = new Map<unknown, AnyShape>(Object.entries(shapes));
  const shapeOf = (name: unknown): Shape<T> => (table.get(name) ?? unknown) as unknown as Shape<T>;
  return {
    form: { by: "tag", tag, shapeOf },
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
  shape: Shape<Loose>,
  broken: (decoded: Loose) => string | false,
): Shape<T> {
  return {
    form: shape.form,
    decode: (value, path) => {
      const decoded = shape.decode(value, path);
      const expected = broken(decoded);
      return expected === false ? (decoded as T) : malformed(path, expected);
    },
  };
}

/** A record that has a `type` on the wire, and none in memory, where its fields tell it from the others. */
export function named<T extends object>(type: string, shape: Shape<T>): Shape<T> {
  const name = oneOf(type);
  return {
    form: { ...(shape.form as Extract<Form, { by: "fields" }>), type },
    decode: (value, path) => {
      if (isJsonObject(value)) name.decode(value["type"], path === "" ? "type" : `${path}.type`);
      return shape.decode(value, path);
    },
  };
}

/** For types with several forms, distinguished by which of some fields is there. `T` is their union. */
export function exactlyOne<T extends object>(
  shape: AnyShape,
  ...fields: readonly string[]
): Shape<T> {
  const expected = `either ${fields.join(" or ")}`;
  return checked<object, T>(
    shape,
    (decoded) => fields.filter((field) => field in decoded).length !== 1 && expected,
  );
}
