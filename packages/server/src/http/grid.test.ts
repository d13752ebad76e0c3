import { expect, test } from "vitest";
import { untilGrid } from "./grid.ts";

/** A clock whose sleeps end early by a part of a millisecond, as timers do. */
async function waited(age: number): Promise<{ readonly at: number; readonly slept: number[] }> {
  let now = age;
  const slept: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms);
    now += ms - 0.4;
  };
  await untilGrid(() => now, sleep);
  return { at: now, slept };
}

test.each([
  [0, 50],
  [0.3, 50],
  [1.7, 50],
  [49.99, 50],
  [50, 100],
  [120.5, 150],
])("an answer that is ready after %d ms is sent at %d ms, not before", async (age, grid) => {
  const { at, slept } = await waited(age);
  expect(at).toBeGreaterThanOrEqual(grid);
  expect(at).toBeLessThan(grid + 1);
  expect(slept.every((ms) => Number.isInteger(ms))).toBe(true);
});
