import type { JsonOf } from "@millrace/core/wire";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { runs } from "../../../../tests/kit/runs.ts";
import { describe } from "./output-json.ts";

vi.setConfig({ testTimeout: process.env["CAMPAIGN"] === "1" ? 24 * 3_600_000 : 120_000 });

/** A value beside its JSON. The compiler holds the JSON to the type that programs see. */
function pair<T>(value: T, json: JsonOf<T>): readonly [value: unknown, json: unknown] {
  return [value, json];
}

class Booking {
  readonly day = new Date(0);
  readonly #seats = 2;
  get seats(): number {
    return this.#seats;
  }
  move(): void {}
}

const day = "1970-01-01T00:00:00.000Z";

interface Step {
  readonly at: Date;
  readonly next: readonly Step[];
}

const step: Step = { at: new Date(0), next: [{ at: new Date(0), next: [] }] };

test.each<[string, readonly [unknown, unknown]]>([
  ["plain data", pair({ a: [1, "x", null, true] }, { a: [1, "x", null, true] })],
  ["a Date", pair({ at: new Date(0) }, { at: day })],
  ["a Date in a class", pair(new Booking() as Pick<Booking, "day" | "move">, { day })],
  ["a URL", pair([new URL("https://a.example/b")], ["https://a.example/b"])],
  ["a bigint", pair({ n: 2n ** 64n }, { n: "18446744073709551616" })],
  ["a Set", pair(new Set(["a", "b"]), ["a", "b"])],
  ["a Map", pair(new Map([["a", 1]]), [["a", 1]])],
  [
    "a Map of keys that are no strings",
    pair(new Map([[new Date(0), new Set([1n])]]), [[day, ["1"]]]),
  ],
  ["a Map of nothing", pair(new Map<string, Date | undefined>([["a", undefined]]), [["a", null]])],
  ["an undefined field", pair({ a: 1, b: undefined as number | undefined }, { a: 1 })],
  ["an undefined row", pair([1, undefined], [1, null])],
  ["a function", pair({ a: 1, run: () => 1 }, { a: 1 })],
  ["a function in a list", pair([() => 1], [null])],
  ["a key that is a symbol", pair({ a: 1, [Symbol.iterator]: 2 }, { a: 1 })],
  ["a tuple", pair([new Date(0), 1n] as const, [day, "1"])],
  ["what refers to itself by its type", pair(step, { at: day, next: [{ at: day, next: [] }] })],
  ["what toJSON gives", pair({ toJSON: () => ({ n: 1n }) }, { n: "1" })],
  ["an error", pair({ error: new Error("no") }, { error: { name: "Error", message: "no" } })],
])("%s is the JSON that its type says", (_, [value, json]) => {
  expect(describe(value)).toStrictEqual({ json, exact: true });
});

/** What the documentation promises, in one line: JSON.stringify, and the three things that it can't write. */
function documented(value: unknown): unknown {
  const text = JSON.stringify(value, (_key, field: unknown) => {
    if (typeof field === "bigint") return String(field);
    return field instanceof Map || field instanceof Set ? [...field] : field;
  });
  return text === undefined ? undefined : JSON.parse(text);
}

/** Values of every kind that has JSON, in objects, lists, Maps and Sets. */
const { value: holdable } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    fc.oneof(
      fc.string(),
      fc.boolean(),
      fc.constantFrom(null, undefined, -0),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.bigInt(),
      fc.date({ noInvalidDate: true }),
      fc.constantFrom(() => 1, Symbol("s"), Date),
      fc.string().map((json) => ({ hidden: 1n, toJSON: () => json })),
    ),
    fc.array(tie("value"), { maxLength: 5 }),
    fc.dictionary(fc.string(), tie("value"), { maxKeys: 5 }),
    fc.array(fc.tuple(tie("value"), tie("value")), { maxLength: 4 }).map((all) => new Map(all)),
    fc.array(tie("value"), { maxLength: 4 }).map((all) => new Set(all)),
  ),
}));

test("for every value that has JSON, the conversion is JSON.stringify with bigints, Maps and Sets", () => {
  const times = runs(20_000, 2_000_000);
  let compared = 0;

  fc.assert(
    fc.property(holdable, (value) => {
      const expected = documented(value);
      const { json, exact } = describe(value);
      if (expected === undefined) {
        if (exact) throw new Error("nothing at all was given for something");
        return;
      }
      compared += 1;
      expect(json).toStrictEqual(expected);
      expect(exact).toBe(true);
    }),
    { numRuns: times },
  );

  expect(compared).toBeGreaterThan(times / 2);
  console.log(`count: outputs as JSON, ${compared} values, 0 failures`);
});
