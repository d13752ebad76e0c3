import { describe, expect, it } from "vitest";
import { encode } from "./encode.ts";
import {
  amount,
  bytes,
  count,
  decodeBy,
  exactlyOne,
  flag,
  id,
  json,
  jsonObject,
  list,
  malformed,
  object,
  oneOf,
  optional,
  tagged,
  text,
} from "./shape.ts";
import type { Decoded, Shape } from "./shape.ts";

interface Point {
  readonly x: number;
  readonly label?: string;
}
const point = object<Point>({ x: count, label: optional(text) });

describe("single values", () => {
  it.each<[string, Pick<Shape<unknown>, "decode">, readonly unknown[], readonly unknown[]]>([
    ["text", text, ["", "x"], [1, null, undefined, ["x"]]],
    ["flag", flag, [true, false], [0, "true", null]],
    ["amount", amount, [0, 0.5, 1e300], [-1, Number.NaN, "1", null]],
    ["count", count, [0, 7, Number.MAX_SAFE_INTEGER], [-1, 0.5, 2 ** 53, Infinity, "1", null]],
    ["json", json, [null, 0, "", [], {}], [undefined]],
    ["jsonObject", jsonObject, [{}, { a: 1 }], [null, [], "x"]],
    ["id", id(), ["a", "😀"], ["", "x".repeat(257), "\ud800", 1]],
    ["oneOf", oneOf("a", "b"), ["a", "b"], ["c", "", null, undefined]],
  ])("%s takes what it is for and refuses the rest", (_, shape, good, bad) => {
    for (const value of good) expect(decodeBy(shape, value)).toStrictEqual({ ok: true, value });
    for (const value of bad) expect(faultOf(decodeBy(shape, value))?.code).toBe("malformed");
  });

  it("bytes are base64 and nothing else", () => {
    expect(decodeBy(bytes, "AQID")).toStrictEqual({ ok: true, value: Uint8Array.of(1, 2, 3) });
    expect(faultOf(decodeBy(bytes, "AQI"))?.code).toBe("malformed");
    expect(faultOf(decodeBy(bytes, [1, 2]))?.code).toBe("malformed");
  });
});

describe("objects", () => {
  it("fields that are not known are not taken", () => {
    expect(decodeBy(point, { x: 1, y: 2 })).toStrictEqual({ ok: true, value: { x: 1 } });
  });

  it("a missing field is a fault, a missing optional one is not there, and null is no absence", () => {
    expect(decodeBy(point, { x: 1 })).toStrictEqual({ ok: true, value: { x: 1 } });
    expect(faultOf(decodeBy(point, { label: "a" }))?.path).toBe("x");
    expect(faultOf(decodeBy(point, { x: 1, label: null }))?.path).toBe("label");
  });

  it("an inherited field is not there", () => {
    const inherited = Object.create({ x: 1 }) as object;

    expect(faultOf(decodeBy(point, inherited))?.path).toBe("x");
  });

  it("a key that names a prototype changes none", () => {
    const decoded = decodeBy(point, JSON.parse('{"x":1,"__proto__":{"label":"forged"}}'));

    expect(decoded).toStrictEqual({ ok: true, value: { x: 1 } });
  });

  it("a field that is undefined is left out of what is written", () => {
    expect(encode(point, { x: 1, label: undefined } as unknown as Point)).toStrictEqual({ x: 1 });
  });

  it("the path leads to the fault in the record", () => {
    const shape = object<{ rows: readonly { at: Point }[] }>({
      rows: list(object<{ at: Point }>({ at: point })),
    });

    const fault = faultOf(decodeBy(shape, { rows: [{ at: { x: 1 } }, { at: { x: "1" } }] }));

    expect(fault).toStrictEqual({
      code: "malformed",
      path: "rows[1].at.x",
      message: "rows[1].at.x: expected a whole number",
    });
    expect(faultOf(decodeBy(shape, []))).toStrictEqual({
      code: "malformed",
      path: "",
      message: "the record: expected an object",
    });
  });
});

describe("unions", () => {
  type Shown = { readonly kind: "dot"; readonly x: number } | { readonly kind: "opaque" };
  const shown = tagged<Shown, "kind">(
    "kind",
    { dot: object<Extract<Shown, { kind: "dot" }>>({ kind: oneOf("dot"), x: count }) },
    { form: { by: "original" }, decode: () => ({ kind: "opaque" }) },
  );

  it("the tag chooses the shape, and an unknown one goes its own way", () => {
    expect(decodeBy(shown, { kind: "dot", x: 1 })).toStrictEqual({
      ok: true,
      value: { kind: "dot", x: 1 },
    });
    expect(decodeBy(shown, { kind: "line" })).toStrictEqual({
      ok: true,
      value: { kind: "opaque" },
    });
    const later = { kind: "opaque" as const, original: { kind: "line" } };
    expect(encode(shown, later)).toStrictEqual({ kind: "line" });
  });

  it.each(["toString", "__proto__", "constructor", "hasOwnProperty"])(
    "the tag %s is unknown, though every object has something of that name",
    (kind) => {
      expect(decodeBy(shown, { kind })).toStrictEqual({ ok: true, value: { kind: "opaque" } });
    },
  );

  it("of two forms exactly one must be there", () => {
    type Either = { readonly a: number } | { readonly b: number };
    const either = exactlyOne<Either>(
      object<{ a?: number; b?: number }>({ a: optional(count), b: optional(count) }),
      "a",
      "b",
    );

    expect(decodeBy(either, { a: 1 }).ok).toBe(true);
    expect(decodeBy(either, { b: 1 }).ok).toBe(true);
    expect(faultOf(decodeBy(either, {}))?.message).toBe("the record: expected either a or b");
    expect(decodeBy(either, { a: 1, b: 1 }).ok).toBe(false);
  });
});

describe("decodeBy", () => {
  it("a fault of the record is data", () => {
    const shape = { decode: () => malformed("a.b", "something else", "unknown_op") };

    expect(decodeBy(shape, {})).toStrictEqual({
      ok: false,
      fault: { code: "unknown_op", path: "a.b", message: "a.b: expected something else" },
    });
  });

  it("a fault of the program is not hidden", () => {
    const broken = {
      decode: (): never => {
        throw new TypeError("a bug");
      },
    };

    expect(() => decodeBy(broken, {})).toThrow("a bug");
  });
});

function faultOf<T>(decoded: Decoded<T>): Extract<Decoded<T>, { ok: false }>["fault"] | undefined {
  return decoded.ok ? undefined : decoded.fault;
}
