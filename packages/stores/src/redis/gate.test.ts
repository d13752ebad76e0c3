import { expect, it } from "vitest";
import { batchAt } from "../testing/redis-batch.ts";
import { createGate } from "./gate.ts";

/** Which of these are let through, as attempt-last. */
function passed(
  heard: readonly (readonly [attempt: number, last: number, lane?: number])[],
): string {
  const gate = createGate();
  return heard
    .filter(([attempt, last, lane]) => gate(batchAt(attempt, last, last, lane)))
    .map(([attempt, last]) => `${attempt}-${last}`)
    .join(" ");
}

it("a batch passes once, and nothing after it that is not above it", () => {
  const heard = passed([
    [1, 3],
    [1, 3],
    [1, 4],
    [1, 2],
    [1, 9],
    [1, 9],
  ]);

  expect(heard).toBe("1-3 1-4 1-9");
});

it("a later attempt passes from its first number on, and the earlier one no more", () => {
  const heard = passed([
    [1, 8],
    [2, 0],
    [1, 9],
    [2, 1],
    [1, 10],
  ]);

  expect(heard).toBe("1-8 2-0 2-1");
});

it("lanes have nothing to do with each other", () => {
  const heard = passed([
    [2, 5, 0],
    [1, 0, 1],
    [1, 1, 1],
    [1, 6, 0],
  ]);

  expect(heard).toBe("2-5 1-0 1-1");
});
