import { describe, expect, test } from "vitest";
import type { MakeId } from "./clock.ts";
import { idsFrom, systemRandom, uniqueName } from "./clock.ts";

/** Numbers in [0, 1) that are the same each time. */
function counted(): () => number {
  let count = 0;
  return () => (count++ % 97) / 97;
}

const sorts: readonly Parameters<MakeId>[0][] = ["session", "run", "item"];

describe("ids of a given source", () => {
  test("are the same for the same numbers, and have the form of those of the machine", () => {
    const made = sorts.map(idsFrom(counted()));

    expect(sorts.map(idsFrom(counted()))).toEqual(made);
    expect(new Set(made).size).toBe(3);
    for (const makeId of [idsFrom(counted()), idsFrom()]) {
      expect(makeId("session")).toMatch(/^[A-Za-z0-9]{16}$/);
      expect(makeId("run")).toMatch(/^run_[0-9a-f]{32}$/);
    }
  });

  test("name nothing twice while the numbers go on", () => {
    const random = counted();
    const names = Array.from({ length: 50 }, () => uniqueName(random));

    expect(new Set(names).size).toBe(50);
  });

  test("are not made of the machine's chance, which others could go on with", () => {
    const { random } = Math;
    Math.random = () => 0.5;
    try {
      expect(systemRandom()).toBe(0.5);
      expect(uniqueName(systemRandom)).not.toBe(uniqueName(systemRandom));
      const makeId = idsFrom(systemRandom);
      expect(makeId("session")).not.toBe(makeId("session"));
    } finally {
      Math.random = random;
    }
  });
});
