import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { checkJson, equalJson, isForbiddenKey, isJsonObject } from "./json.ts";
import type { Json, JsonObject } from "./json.ts";
import { parseJson } from "./scan-json.ts";
import { json } from "./testing/arbitraries.ts";
import { patience } from "../../../tests/kit/patience.ts";
import { runs } from "../../../tests/kit/runs.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(10_000, 2_000_000);

/** The text of a value with sorted keys: equal values have equal texts. */
function canonical(value: Json): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonical).join()}]`;
  const fields = Object.entries(value as JsonObject).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, child]) => `${JSON.stringify(key)}:${canonical(child)}`).join()}}`;
}

/** The same value with the keys of every object the other way round. */
function reversed(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(reversed);
  const fields = Object.entries(value as JsonObject).toReversed();
  return Object.fromEntries(fields.map(([key, child]) => [key, reversed(child)]));
}

describe("checkJson", () => {
  it("what the door for text lets in is plain data, and so is every generated value", () => {
    fc.assert(
      fc.property(json, (value) => {
        if (checkJson(value) !== undefined) throw new Error("refused in memory");
        const parsed = parseJson(JSON.stringify(value));
        if (!parsed.ok) throw new Error(`refused as text: ${parsed.fault.code}`);
      }),
      { numRuns: times },
    );
    console.log(`count: checkJson and parseJson agree, ${times} values, 0 failures`);
  });

  it.each([
    ["undefined", undefined, "not_json"],
    ["a function", () => 1, "not_json"],
    ["a symbol", Symbol("x"), "not_json"],
    ["a big integer", 1n, "not_json"],
    ["a date", new Date(0), "not_json"],
    ["a map", new Map(), "not_json"],
    ["bytes", new Uint8Array(1), "not_json"],
    ["a hole in a list", [1, , 2], "not_json"], // oxlint-disable-line no-sparse-arrays
    ["undefined under a key", { a: undefined }, "not_json"],
    ["not a number", Number.NaN, "inexact_number"],
    ["infinity", [-Infinity], "inexact_number"],
    ["half a character", "\ud83d", "malformed_text"],
  ] as const)("%s is refused", (_, value, code) => {
    expect(checkJson(value)?.code).toBe(code);
  });

  it("half a character in a key is refused with the key", () => {
    expect(checkJson({ "\ude00": 1 })).toStrictEqual({ code: "malformed_text", key: "\ude00" });
  });

  it("an object without a prototype is plain data", () => {
    expect(checkJson(Object.assign(Object.create(null) as object, { a: [1] }))).toBeUndefined();
  });

  it("a key that reaches a prototype is refused where it stands", () => {
    const polluting = JSON.parse('{"a":[{"__proto__":1}]}') as Json;

    expect(checkJson(polluting)).toStrictEqual({ code: "forbidden_key", key: "__proto__" });
    expect(checkJson({ constructor: { prototype: 1 } })?.code).toBe("forbidden_key");
    expect(checkJson({ constructor: [{ prototype: 1 }], prototype: 1 })).toBeUndefined();
  });

  it("a cycle ends at the depth limit", () => {
    const cycle: { self?: unknown } = {};
    cycle.self = [cycle];

    expect(checkJson(cycle)).toStrictEqual({ code: "too_deep" });
  });

  it("a value that holds itself many times over is refused before it is walked through", () => {
    let doubled: Json = ["x"];
    for (let level = 0; level < 60; level += 1) doubled = [doubled, doubled];

    expect(checkJson(doubled)).toStrictEqual({ code: "too_large" }); // 2^60 leaves
  });

  it("limits hold at their value and break one above it", () => {
    const limits = { depth: 2, keys: 2, length: 20 };

    expect(checkJson([[]], limits)).toBeUndefined();
    expect(checkJson([[[]]], limits)?.code).toBe("too_deep");
    expect(checkJson({ a: 1, b: 2 }, limits)).toBeUndefined();
    expect(checkJson({ a: true, b: true, c: true }, limits)?.code).toBe("too_large");
    expect(checkJson("x".repeat(20), limits)).toBeUndefined();
    expect(checkJson("x".repeat(21), limits)?.code).toBe("too_large");
    expect(checkJson("x".repeat(10).split(""), limits)).toBeUndefined();
    expect(checkJson("x".repeat(11).split(""), limits)?.code).toBe("too_large");
    expect(checkJson({ ["k".repeat(20)]: null }, limits)?.code).toBe("too_large");
  });
});

describe("equalJson", () => {
  it("two values are equal exactly when their texts with sorted keys are", () => {
    // Few leaves and keys, so that equal values and near misses are common.
    const leaf = fc.constantFrom<Json>(0, 1, null, "", "0", false);
    const { value: small } = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 2, depthSize: "small" },
        leaf,
        fc.array(tie("value"), { maxLength: 2 }),
        fc.dictionary(fc.constantFrom("a", "b", "toString"), tie("value"), { maxKeys: 2 }),
      ),
    }));
    let equal = 0;

    fc.assert(
      fc.property(small, small, (left, right) => {
        const same = canonical(left) === canonical(right);
        if (same) equal += 1;
        return equalJson(left, right) === same && equalJson(right, left) === same;
      }),
      { numRuns: times },
    );

    expect(equal).toBeGreaterThan(times / 200);
    console.log(`count: equalJson is equality of canonical texts, ${times} pairs, 0 failures`);
  });

  it("the order of keys does not count", () => {
    fc.assert(
      fc.property(json, (value) => equalJson(value, reversed(value))),
      { numRuns: times / 4 },
    );
  });

  it("0 and -0 are one value, nothing and null are two", () => {
    expect(equalJson([0], [-0])).toBe(true);
    expect(equalJson(undefined, undefined)).toBe(true);
    expect(equalJson(undefined, null)).toBe(false);
    expect(equalJson([], {})).toBe(false);
  });

  it("an inherited name is not a key", () => {
    expect(equalJson({ toString: 1 }, { a: 1 })).toBe(false);
    expect(equalJson({ a: 1 }, { toString: 1 })).toBe(false);
    expect(equalJson(JSON.parse('{"__proto__":{}}') as Json, { a: 1 })).toBe(false);
  });
});

describe("guards", () => {
  it("only the two ways to a prototype are forbidden keys", () => {
    expect(isForbiddenKey("__proto__", undefined)).toBe(true);
    expect(isForbiddenKey("prototype", "constructor")).toBe(true);
    expect(isForbiddenKey("prototype", "a")).toBe(false);
    expect(isForbiddenKey("constructor", undefined)).toBe(false);
  });

  it("lists and null are not objects", () => {
    expect([{}, [], null, "x", undefined].map(isJsonObject)).toStrictEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
