import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { List } from "./list.ts";
import { patience } from "../../../tests/kit/patience.ts";
import { runs } from "../../../tests/kit/runs.ts";

vi.setConfig({ testTimeout: patience });

const times = runs(20_000, 1_000_000);

/** A step takes one of the lists made so far and makes another one from it. */
const step = fc.record({
  from: fc.nat(20),
  change: fc.constantFrom("append", "with"),
  at: fc.nat(),
});

describe("List", () => {
  it("every list keeps its rows, whatever was made from it since", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 24, size: "max" }), (steps) => {
        const made: { readonly list: List<number>; readonly rows: readonly number[] }[] = [
          { list: List.of(), rows: [] },
        ];
        for (const [value, { from, change, at }] of steps.entries()) {
          const { list, rows } = made[from % made.length] as (typeof made)[number];
          if (change === "append" || rows.length === 0) {
            made.push({ list: list.append(value), rows: [...rows, value] });
          } else {
            const place = at % rows.length;
            made.push({ list: list.with(place, value), rows: rows.with(place, value) });
          }
        }
        for (const { list, rows } of made) compare(list, rows);
      }),
      { numRuns: times },
    );
    console.log(`count: lists are values, ${times} histories, 0 failures`);
  });

  it("places count from either end, and outside of them there is nothing", () => {
    const longer = List.of(["a", "b", "c"]);
    const list = List.of<string>().append("a").append("b");
    list.append("hidden");

    expect([0, 1, 2, -1, -2, -3].map((at) => list.at(at))).toStrictEqual([
      "a",
      "b",
      undefined,
      "b",
      "a",
      undefined,
    ]);
    expect(longer.at(-4)).toBeUndefined();
  });

  it("a search goes from the end and sees only its own rows", () => {
    const list = List.of([1, 2, 1]);
    list.append(1);

    expect(list.findLastIndex((row) => row === 1)).toBe(2);
    expect(list.findLastIndex((row) => row === 9)).toBe(-1);
  });

  it("a list shares nothing with the array that it was made of or that it gives", () => {
    const rows = [1];
    const list = List.of(rows);

    rows.push(2);
    (list.toArray() as number[]).push(3);

    expect([...list]).toStrictEqual([1]);
  });

  it("exchanging a row that is not there throws", () => {
    const list = List.of([1]);
    list.append(2);

    expect(() => list.with(1, 9)).toThrow(RangeError);
  });
});

function compare(list: List<number>, rows: readonly number[]): void {
  const seen = [...list];
  const array = list.toArray();
  const same =
    list.length === rows.length &&
    seen.length === rows.length &&
    array.length === rows.length &&
    rows.every((row, at) => row === seen[at] && row === array[at] && row === list.at(at));
  if (!same) throw new Error(`${seen.join()} is not ${rows.join()}`);
}
