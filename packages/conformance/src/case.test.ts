import { MillraceError } from "@millrace/core";
import { describe, expect, it } from "vitest";
import { assertEqual, assertOutcome, assertRejects, differenceOf, within } from "./case.ts";

describe("the assertions of the cases", () => {
  it("equal values of all sorts have no difference", () => {
    const value = { a: [1, "x", null, { b: true }], bytes: Uint8Array.of(1, 2) };

    const difference = differenceOf(value, structuredClone(value), "");

    expect(difference).toBeUndefined();
  });

  it("an undefined key is a key that is not there", () => {
    expect(differenceOf({ a: 1, b: undefined }, { a: 1 }, "")).toBeUndefined();
  });

  const unequal: readonly (readonly [string, unknown, unknown])[] = [
    ["numbers", 1, 2],
    ["texts", "a", "b"],
    ["a number and its text", 1, "1"],
    ["null and an object", null, {}],
    ["a missing key", {}, { a: 1 }],
    ["an extra key", { a: 1 }, {}],
    ["an inherited key", {}, { toString: 1 }],
    ["a shorter list", [1], [1, 2]],
    ["a longer list", [1, 2], [1]],
    ["a list and an object", [], {}],
    ["bytes", Uint8Array.of(1), Uint8Array.of(2)],
    ["lengths of bytes", Uint8Array.of(1), Uint8Array.of(1, 0)],
    ["bytes and a list", Uint8Array.of(1), [1]],
    ["something deep", { a: [{ b: 1 }] }, { a: [{ b: 2 }] }],
  ];
  it.each(unequal)("a difference in %s is found", (_, actual, expected) => {
    expect(differenceOf(actual, expected, "")).toBeTypeOf("string");
    expect(() => assertEqual(actual, expected, "they differ")).toThrow("they differ");
  });

  it("the message names the path", () => {
    expect(differenceOf({ a: [{ b: 1 }] }, { a: [{ b: 2 }] }, "")).toContain("a.0.b");
  });

  it("only the right code is the expected rejection", async () => {
    const closed = (): Promise<never> => Promise.reject(new MillraceError("closed", "it is"));

    await assertRejects(closed, "closed", "right");

    await expect(assertRejects(closed, "invalid_id", "wrong")).rejects.toThrow("wrong");
    await expect(assertRejects(() => Promise.resolve(), "closed", "none")).rejects.toThrow("none");
  });

  it("another outcome is refused", () => {
    const answer = { outcome: "stored" } as { outcome: "stored" } | { outcome: "absent" };

    expect(assertOutcome(answer, "stored", "is")).toBe(answer);
    expect(() => assertOutcome(answer, "absent", "is not")).toThrow("is not");
  });

  it("within writers on what comes in time", async () => {
    await expect(within(Promise.resolve(7), "in time")).resolves.toBe(7);
    await expect(within(Promise.reject(new Error("no")), "in time")).rejects.toThrow("no");
  });
});
