import { expect, it } from "vitest";
import { batchAt } from "../testing/redis-batch.ts";
import { createGate } from "./gate.ts";

/** Which of these pass the gate, as attempt-last. */
function passed(
  received: readonly (readonly [attempt: number, last: number, lane?: number])[],
): string {
  const gate = createGate();
  return received
    .filter(([attempt, last, lane]) => gate(batchAt(attempt, last, last, lane)))
    .map(([attempt, last]) => `${attempt}-${last}`)
    .join(" ");
}

it("a batch passes once, and nothing after it that is not above it", () => {
  const result = passed([
    [1, 3],
    [1, 3],
    [1, 4],
    [1, 2],
    [1, 9],
    [1, 9],
  ]);

  expect(result).toBe("1-3 1-4 1-9");
});

it("a later attempt passes from its first number on, and the earlier one no more", () => {
  const result = passed([
    [1, 8],
    [2, 0],
    [1, 9],
    [2, 1],
    [1, 10],
  ]);

  expect(result).toBe("1-8 2-0 2-1");
});

it("lanes are independent", () => {
  const result = passed([
    [2, 5, 0],
    [1, 0, 1],
    [1, 1, 1],
    [1, 6, 0],
  ]);

  expect(result).toBe("2-5 1-0 1-1");
});
