import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { promises } from "../promises.ts";

const top = new URL("../../../", import.meta.url);

describe("the registry of promises", () => {
  it("an id names one promise", () => {
    const ids = promises.map(({ id }) => id);

    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id).toMatch(/^P\d+$/);
  });

  it.each(promises)(
    "$id has a text, what holds, its limits and tests",
    ({ promise, holds, limits, tests }) => {
      expect(promise).toMatch(/\.$/);
      expect(holds).toMatch(/\.$/);
      expect(limits).toMatch(/\.$/);
      expect(tests.length).toBeGreaterThan(0);
    },
  );

  it.each(promises)("the tests of $id are there", ({ tests }) => {
    for (const { file } of tests) {
      expect(file).toMatch(/\.test\.ts$/);
      expect(readFileSync(new URL(file, top), "utf8")).toContain("vitest");
    }
  });
});
