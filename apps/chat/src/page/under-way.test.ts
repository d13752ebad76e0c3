import { expect, it } from "vitest";
import { isUnderWay } from "./under-way.ts";

it("a sub-agent's card is open in each state before its call has come to something, whichever is seen first", () => {
  const open = ["writing", "waiting", "running"] as const;
  const over = ["finished", "failed", "denied", "unknown"] as const;

  expect(open.filter((state) => !isUnderWay({ state }))).toEqual([]);
  expect(over.filter((state) => isUnderWay({ state }))).toEqual([]);
});
