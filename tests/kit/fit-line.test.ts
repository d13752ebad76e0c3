import { expect, it } from "vitest";
import { fitLine } from "./fit-line.ts";

it("points on a line give that line", () => {
  const { slope, fixed } = fitLine([
    [100, 7],
    [400, 13],
    [1_600, 37],
  ]);

  expect(slope).toBeCloseTo(0.02);
  expect(fixed).toBeCloseTo(5);
});

it("points beside a line give the one between them", () => {
  const { slope, fixed } = fitLine([
    [0, 1],
    [0, 3],
    [2, 7],
    [2, 5],
  ]);

  expect(slope).toBeCloseTo(2);
  expect(fixed).toBeCloseTo(2);
});
