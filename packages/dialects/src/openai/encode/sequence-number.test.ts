import { packEpoch } from "@millrace/core/ports";
import { expect, test } from "vitest";
import { errorNumberAfter, markAfter, noMark, numberOf, placeOf } from "./sequence-number.ts";

test("a number is a safe integer that says its position and its mark, and rises with the position", () => {
  const mark = markAfter(noMark, packEpoch({ incarnation: 1, generation: 1, attempt: 0 }));
  const last = { position: 2 ** 29 - 1, mark: 8_388_300 };

  expect(placeOf(numberOf({ position: 7, mark }))).toEqual({ position: 7, mark });
  expect(placeOf(numberOf(last))).toEqual(last);
  expect(Number.isSafeInteger(errorNumberAfter(numberOf(last)))).toBe(true);
  expect(numberOf({ position: 8, mark: 0 })).toBeGreaterThan(
    errorNumberAfter(numberOf({ ...last, position: 7 })),
  );
  expect(numberOf({ position: 0, mark: noMark })).toBe(0);
});

test("a reader that goes on from the number of an error has what it had before the error", () => {
  const before = numberOf({ position: 41, mark: 77 });
  const error = errorNumberAfter(before);

  expect(error).toBeGreaterThan(before);
  expect(placeOf(error)).toEqual(placeOf(before));
  expect(errorNumberAfter(error)).toBe(error);
});

test("attempts at one reply that are close to each other never have the same mark", () => {
  const earlier = markAfter(noMark, packEpoch({ incarnation: 1, generation: 3, attempt: 0 }));
  const marks = new Set<number>();
  let count = 0;
  for (let incarnation = 2; incarnation < 90; incarnation += 1)
    for (let generation = 0; generation < 128; generation += 1)
      for (let attempt = 0; attempt < 8; attempt += 1) {
        marks.add(markAfter(earlier, packEpoch({ incarnation, generation, attempt })));
        count += 1;
      }
  console.log(`count: marks of attempts, ${count}, ${count - marks.size} failures`);
  expect(marks.size).toBe(count);
});

test("a mark depends on every attempt before, and on the fact that stored other content", () => {
  const [first, again, next] = [1, 2, 3].map((generation) =>
    packEpoch({ incarnation: 1, generation, attempt: 0 }),
  ) as [number, number, number];
  const markOf = (...attempts: readonly number[]): number => attempts.reduce(markAfter, noMark);

  expect(markOf(first, next)).not.toBe(markOf(again, next));
  expect(markOf(first, next)).not.toBe(markOf(-12, next));
  expect(markOf(-12)).not.toBe(markOf(-13));
  expect(markOf(first, next)).toBe(markOf(first, next));
});
