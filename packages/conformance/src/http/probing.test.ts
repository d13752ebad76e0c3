import { expect, test } from "vitest";
import { distanceByChance, distanceOf } from "./probing.ts";

/** Times around a grid, with the noise of a machine: the same for each run. */
function timesOf(seed: number, count: number, laterMs = 0): readonly number[] {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return 50 + laterMs + (state / 2_147_483_648) * 3;
  });
}

test("samples are as far apart as their distributions", () => {
  expect(distanceOf([1, 2, 3, 4], [1, 2, 3, 4])).toBe(0);
  expect(distanceOf([1, 2], [3, 4])).toBe(1);
  expect(distanceOf([1, 3], [2, 4])).toBe(0.5);
  expect(distanceOf([1, 1, 1, 2], [1, 2, 2, 2])).toBe(0.5);
});

test("equal times are within chance, at both sizes", () => {
  for (const count of [200, 5_000])
    expect(distanceOf(timesOf(1, count), timesOf(2, count))).toBeLessThan(distanceByChance(count));
});

test("200 probes find a difference of 2 ms in 3 ms of noise, and 5,000 one of a quarter", () => {
  expect(distanceOf(timesOf(1, 200), timesOf(2, 200, 2))).toBeGreaterThan(distanceByChance(200));
  const [size, later] = [5_000, 0.25];
  expect(distanceOf(timesOf(1, size), timesOf(2, size, later))).toBeGreaterThan(
    distanceByChance(size),
  );
});
