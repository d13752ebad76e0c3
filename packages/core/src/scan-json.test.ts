import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { defaultJsonLimits } from "./json.ts";
import type { JsonFaultCode } from "./json.ts";
import { JsonScan, parseJson, scanJson } from "./scan-json.ts";
import { documentedRefusals, isInexact, readJson, tryParse } from "./testing/json-oracle.ts";
import { damagedText, jsonText, objectText } from "./testing/json-texts.ts";
import { patience } from "../../../tests/kit/patience.ts";
import { runs } from "../../../tests/kit/runs.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(25_000, 2_000_000);

const syntaxCodes: readonly JsonFaultCode[] = ["bad_json", "truncated", "trailing_data"];

/**
 * Throws if the scanner and JSON.parse disagree on a text in any way that is not documented. Returns
 * what the scanner found.
 */
function compare(text: string, depth: number): JsonFaultCode | "accepted" {
  const limits = { ...defaultJsonLimits, depth };
  const fault = scanJson(text, limits);
  if (tryParse(text) === undefined) {
    if (fault === undefined) throw new Error("accepted what JSON.parse refuses");
    // Something documented may come before the place where the syntax breaks.
    if (!syntaxCodes.includes(fault.code)) justify(text, fault.code, fault.at ?? 0);
    return fault.code;
  }
  const refusals = documentedRefusals(text, limits);
  if (fault === undefined) {
    if (refusals.size > 0) throw new Error(`accepted in spite of ${[...refusals].join()}`);
  } else if (!refusals.has(fault.code)) {
    throw new Error(`${fault.code} though only ${[...refusals].join() || "nothing"} is wrong`);
  }
  return fault?.code ?? "accepted";
}

/** In a text that is not JSON, the refusal must be true of the token at which it points. */
function justify(text: string, code: JsonFaultCode, at: number): void {
  const rest = text.slice(at);
  const token = /^"(?:[^"\\]|\\.)*"/s.exec(rest)?.[0];
  const number = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/.exec(rest)?.[0];
  const key = token === undefined ? undefined : (tryParse(token)?.value as string | undefined);
  const spelled = (name: string): number =>
    [...text.slice(0, at + (token?.length ?? 0)).matchAll(/"(?:[^"\\]|\\.)*"/gs)].filter(
      ([other]) => tryParse(other)?.value === name,
    ).length;
  const isTrue =
    (code === "duplicate_key" && key !== undefined && spelled(key) > 1) ||
    (code === "forbidden_key" && (key === "__proto__" || key === "prototype")) ||
    (code === "malformed_text" && key !== undefined && !key.isWellFormed()) ||
    (code === "inexact_number" && number !== undefined && isInexact(number)) ||
    (code === "too_deep" && (rest.startsWith("{") || rest.startsWith("[")));
  if (!isTrue) throw new Error(`${code} at ${at} is not true of ${JSON.stringify(rest)}`);
}

// First of all, since it needs an engine that has not met too many other objects yet.
describe("escaped keys", () => {
  // The engine's own parser may take an escaped key for one that it met before in the same place.
  it.each([
    ["\\", String.raw`\n`, "\n"],
    ["\\", String.raw`\u0062`, "b"],
    [String.raw`\u0063o`, String.raw`\u0063ommand`, "command"],
    ["x\\", String.raw`x\"`, 'x"'],
  ])("after the key %j the key spelled %s is %j", (before, spelled, key) => {
    const kept = parseJson(JSON.stringify({ path: 1, [before]: 2 }));

    const parsed = parseJson(`{"path":1,"${spelled}":2}`);

    expect(kept.ok).toBe(true);
    expect(parsed).toStrictEqual({ ok: true, value: { path: 1, [key]: 2 } });
  });
});

describe("differences from JSON.parse", () => {
  it("a JSON text is accepted exactly when nothing documented is wrong with it", () => {
    const seen = new Set<string>();

    fc.assert(
      fc.property(jsonText, fc.constantFrom(2, 64), (text, depth) => {
        seen.add(compare(text, depth));
      }),
      { numRuns: times },
    );

    // Each was met, but for the few runs that a mutant gets.
    if (times > 10_000)
      expect([...seen].toSorted()).toStrictEqual([
        "accepted",
        "duplicate_key",
        "forbidden_key",
        "inexact_number",
        "malformed_text",
        "too_deep",
      ]);
    console.log(`count: scanJson against JSON.parse, ${times} JSON texts, 0 failures`);
  });

  it("a damaged JSON text is refused when JSON.parse refuses it, for a reason that is true", () => {
    const seen = new Set<string>();

    fc.assert(
      fc.property(damagedText, (text) => {
        seen.add(compare(text, 64));
      }),
      { numRuns: times },
    );

    expect(syntaxCodes.every((code) => seen.has(code))).toBe(true);
    console.log(`count: scanJson against JSON.parse, ${times} damaged texts, 0 failures`);
  });

  it("any string at all gets an answer, and never an exception", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 20 }), (text) => {
        compare(text, 64);
      }),
      { numRuns: times / 2 },
    );
    console.log(`count: scanJson never throws, ${times / 2} strings, 0 failures`);
  });

  it("an accepted text gives the value that it spells", () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        fc.pre(scanJson(text) === undefined);
        return isDeepStrictEqual(parseJson(text), { ok: true, value: readJson(text) });
      }),
      { numRuns: times / 4 },
    );
  });
});

describe("a scan in pieces", () => {
  it("finds what a scan in one go finds, wherever it is interrupted", () => {
    fc.assert(
      fc.property(
        fc.oneof(jsonText, damagedText),
        fc.integer({ min: 1, max: 9 }),
        (text, units) => {
          const scan = new JsonScan(text, defaultJsonLimits);
          while (!scan.run(units));
          return isDeepStrictEqual(scan.parse(), parseJson(text));
        },
      ),
      { numRuns: times / 4 },
    );
    console.log(`count: scans in pieces, ${times / 4} texts, 0 failures`);
  });

  it("reads no more at a time than it is asked for", () => {
    const text = `{"a":"${"x".repeat(1_000)}","b":[${"1,".repeat(500)}${" ".repeat(500)}1]}`;
    const scan = new JsonScan(text, defaultJsonLimits);
    let pieces = 1;
    while (!scan.run(10)) pieces += 1;

    expect(pieces).toBeGreaterThan(text.length / 20);
  });
});

it("a number of more than a thousand digits is too large", () => {
  expect(scanJson(`0.${"1".repeat(1_000)}`)).toBe(undefined);
  expect(scanJson(`[0.${"1".repeat(1_001)}]`)?.code).toBe("too_large");
});

describe("how many values there are", () => {
  it.each([
    ["[1,2,3]", 4],
    ['{"a":{"b":[null]}}', 4],
    ["[[],[],{}]", 4],
    ['"text"', 1],
  ])("%s has %i", (text, values) => {
    expect(scanJson(text, { ...defaultJsonLimits, values })).toBe(undefined);
    expect(scanJson(text, { ...defaultJsonLimits, values: values - 1 })?.code).toBe("too_large");
  });
});

describe("prefixes", () => {
  it("every proper prefix of an object's text is truncated", () => {
    let prefixes = 0;

    fc.assert(
      fc.property(objectText, (text) => {
        fc.pre(text.length <= 200 && scanJson(text) === undefined);
        for (let end = 0; end < text.length; end += 1) {
          prefixes += 1;
          const fault = scanJson(text.slice(0, end));
          if (fault?.code !== "truncated")
            throw new Error(`${JSON.stringify(text.slice(0, end))} is ${fault?.code}`);
        }
      }),
      { numRuns: times / 20 },
    );
    console.log(`count: every prefix is truncated, ${prefixes} prefixes, 0 failures`);
  });

  it("a number that is cut before its exponent is truncated, not inexact", () => {
    expect(scanJson('{"a":12345678901234567890e-5}')).toBeUndefined();

    expect(scanJson('{"a":12345678901234567890')?.code).toBe("truncated");
  });

  it("the fault of a cut text points at its end", () => {
    expect(scanJson('{"a":"x')).toStrictEqual({ code: "truncated", at: 7 });
    expect(scanJson('{"a":tr')).toStrictEqual({ code: "truncated", at: 7 });
    expect(scanJson('{"a":"\\u00')).toStrictEqual({ code: "truncated", at: 10 });
    expect(scanJson("")).toStrictEqual({ code: "truncated", at: 0 });
  });
});

describe("refusals", () => {
  it.each([
    ["{'a':1}", "bad_json", 1],
    ['{"a":1,}', "bad_json", 7],
    ["[1,]", "bad_json", 3],
    ["[1 2]", "bad_json", 3],
    ["// c\n1", "bad_json", 0],
    ["NaN", "bad_json", 0],
    ["nul!", "bad_json", 0],
    ["0x1", "trailing_data", 1],
    ["01", "trailing_data", 1],
    [".5", "bad_json", 0],
    ["1.", "truncated", 2],
    ["1.e5", "bad_json", 2],
    ["+1", "bad_json", 0],
    ['"\\x41"', "bad_json", 2],
    ['"\\u00g0"', "bad_json", 5],
    ['"\u0000"', "bad_json", 1],
    ['"a\nb"', "bad_json", 2],
    ["\uFEFF{}", "bad_json", 0],
    ["\u00a01", "bad_json", 0],
    ["{} {}", "trailing_data", 3],
    ["9007199254740992", "inexact_number", 0],
    ['{"a":1e400}', "inexact_number", 5],
    ['["\\ud800"]', "malformed_text", 1],
  ] as const)("%j is %s at %i", (text, code, at) => {
    expect(scanJson(text)).toStrictEqual({ code, at });
  });

  it("a doubled key is named, and compared as decoded", () => {
    expect(scanJson('{"a":1,"\\u0061":2}')).toStrictEqual({
      code: "duplicate_key",
      at: 7,
      key: "a",
    });
    expect(scanJson('{"a":{"a":1},"b":{"a":2}}')).toBeUndefined();
  });

  it("a key that reaches a prototype is refused, and one that only looks like it is not", () => {
    expect(scanJson('{"\\u005f\\u005fproto__":1}')?.code).toBe("forbidden_key");
    expect(scanJson('{"constructor":{"prototype":1}}')?.code).toBe("forbidden_key");
    expect(scanJson('{"constructor":1,"prototype":{"x":1}}')).toBeUndefined();
    expect(scanJson('{"__proto":1,"toString":2,"then":3}')).toBeUndefined();
  });

  it("limits hold at their value and break one above it", () => {
    const limits = { depth: 3, keys: 2, length: 20 };

    expect(scanJson("[[[]]]", limits)).toBeUndefined();
    expect(scanJson("[[[[]]]]", limits)).toStrictEqual({ code: "too_deep", at: 3 });
    expect(scanJson('{"a":{"b":{"c":{}}}}', limits)?.code).toBe("too_deep");
    expect(scanJson('{"a":1,"b":2}', limits)).toBeUndefined();
    expect(scanJson('{"a":1,"b":2,"c":3}', limits)?.code).toBe("too_large");
    expect(scanJson(`"${"x".repeat(18)}"`, limits)).toBeUndefined();
    expect(scanJson(`"${"x".repeat(19)}"`, limits)).toStrictEqual({ code: "too_large", at: 20 });
  });

  it("a text 10,000 levels deep is refused and does not exhaust the stack", () => {
    const deep = 10_000;

    expect(scanJson("[".repeat(deep) + "]".repeat(deep))).toStrictEqual({
      code: "too_deep",
      at: 64,
    });
    expect(scanJson('{"a":'.repeat(deep))?.code).toBe("too_deep");
  });
});

describe("safety", () => {
  it("no text changes a prototype", () => {
    const prototypes = [Object.prototype, Array.prototype, Function.prototype];
    const before = prototypes.map((prototype) => Reflect.ownKeys(prototype));
    const hostile = [
      '{"__proto__":{"polluted":1}}',
      '{"constructor":{"prototype":{"polluted":1}}}',
      '{"a":{"__proto__":{"polluted":1}}}',
      '[{"\\u005f_proto__":{"polluted":1}}]',
    ];

    const results = hostile.map((text) => parseJson(text));

    expect(results.map((result) => result.ok)).toStrictEqual([false, false, false, false]);
    expect("polluted" in {}).toBe(false);
    expect(prototypes.map((prototype) => Reflect.ownKeys(prototype))).toStrictEqual(before);
  });
});
