import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { defaultJsonLimits } from "../json.ts";
import type { JsonLimits } from "../json.ts";
import { text } from "../testing/arbitraries.ts";
import { documentedRefusals, tryParse } from "../testing/json-oracle.ts";
import { damagedText, jsonText, objectText } from "../testing/json-texts.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { parseArguments } from "./arguments.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(300_000, 30_000_000);

/** Narrow enough that generated texts are now within them, now beyond. */
const narrow: JsonLimits = { depth: 2, keys: 2, length: 30 };

/** What models send as arguments, good and bad. */
const argumentText = fc.oneof(
  { weight: 4, arbitrary: objectText },
  { weight: 3, arbitrary: damagedText },
  // A reply cut by the token limit.
  {
    weight: 2,
    arbitrary: fc.tuple(objectText, fc.nat(99)).map(([whole, at]) => whole.slice(0, at)),
  },
  // An object and a doubled key of it, spelled in two ways.
  {
    weight: 1,
    arbitrary: objectText.map((whole) => `{"k":1,"\\u006b":2,${whole.slice(1)}`),
  },
  { weight: 1, arbitrary: jsonText },
  { weight: 1, arbitrary: objectText.map((whole) => JSON.stringify(whole)) },
  { weight: 1, arbitrary: fc.tuple(objectText, text).map(([whole, more]) => whole + more) },
  { weight: 1, arbitrary: fc.oneof(text, fc.string({ unit: "binary", maxLength: 12 })) },
  { weight: 1, arbitrary: fc.string({ unit: fc.constantFrom(..." \t\r\n\u00a0".split("")) }) },
);

/** True for a text that may reach a tool, by other means than the parser's. */
function isUsable(raw: string, limits: JsonLimits): boolean {
  if (/^[ \t\r\n]*$/.test(raw)) return true;
  const parsed = tryParse(raw);
  if (parsed === undefined || documentedRefusals(raw, limits).size > 0) return false;
  return Object.prototype.toString.call(parsed.value) === "[object Object]";
}

it("arguments become an input exactly when they are one whole object that nothing is wrong with", () => {
  const seen = new Map<string, number>();

  fc.assert(
    fc.property(argumentText, fc.constantFrom(defaultJsonLimits, narrow), (raw, limits) => {
      const parsed = parseArguments(raw, limits);
      const keys = Object.keys(parsed);
      if (keys.length !== 1 || (keys[0] !== "input" && keys[0] !== "fault"))
        throw new Error(`has ${keys.join()}`);
      const code = parsed.fault?.code ?? "input";
      seen.set(code, (seen.get(code) ?? 0) + 1);
      if ((parsed.input !== undefined) !== isUsable(raw, limits)) throw new Error(code);
      if (parsed.input === undefined) return;
      const expected = raw.trim() === "" ? {} : tryParse(raw)?.value;
      if (!isDeepStrictEqual(parsed.input, expected)) throw new Error("another value");
    }),
    { numRuns: times },
  );

  expect(seen.get("input")).toBeGreaterThan(times / 10);
  // Each way to be refused was met, but for the few runs that a mutant gets.
  if (times > 10_000)
    expect([...seen.keys()].toSorted()).toStrictEqual([
      "bad_json",
      "double_encoded",
      "duplicate_key",
      "forbidden_key",
      "inexact_number",
      "input",
      "malformed_text",
      "not_an_object",
      "too_deep",
      "too_large",
      "trailing_data",
      "truncated",
    ]);
  console.log(`count: P4 (arguments), ${times} argument texts, 0 failures`);
});
