import { expect, test } from "vitest";
import type { Cause } from "../content/item.ts";
import { defaultRetryPolicy, retryDelay } from "./retry.ts";

const policy = { attempts: 4, baseMs: 100, capMs: 1_000 };
const passing: Cause = { code: "overloaded", message: "later", retryable: true };
const asking = (retryAfterMs: number): Cause => ({ ...passing, evidence: { retryAfterMs } });

test("the bound of the wait doubles, and the wait is any part of it", () => {
  expect([1, 2, 3].map((attempt) => retryDelay(policy, { attempt, cause: passing }, 0.5))).toEqual([
    50, 100, 200,
  ]);
  expect(retryDelay(policy, { attempt: 1, cause: passing }, 0)).toBe(0);
});

test("the last try is not followed by a wait", () => {
  expect(retryDelay(policy, { attempt: 4, cause: passing }, 0.5)).toBeUndefined();
  expect(
    retryDelay({ ...policy, attempts: 1 }, { attempt: 1, cause: passing }, 0.5),
  ).toBeUndefined();
});

test("what does not pass by itself is not tried again", () => {
  const { retryable: _, ...cause } = passing;
  expect(retryDelay(policy, { attempt: 1, cause }, 0.5)).toBeUndefined();
  expect(
    retryDelay(policy, { attempt: 1, cause: { ...passing, retryable: false } }, 0),
  ).toBeUndefined();
});

test("what the vendor asks for is waited for in full, with jitter", () => {
  expect(retryDelay(policy, { attempt: 1, cause: asking(400) }, 0.5)).toBe(450);
  expect(retryDelay(policy, { attempt: 1, cause: asking(1_000) }, 0.5)).toBe(1_050);
  expect(retryDelay(policy, { attempt: 1, cause: asking(-5) }, 0.5)).toBe(50);
});

test("a delay beyond the cap is not cut short: there is no further try", () => {
  expect(retryDelay(policy, { attempt: 1, cause: asking(1_001) }, 0)).toBeUndefined();
  expect(retryDelay(policy, { attempt: 1, cause: asking(99_999_000) }, 0.5)).toBeUndefined();
});

test("the default policy waits for a vendor up to a minute", () => {
  const wait = (ms: number): number | undefined =>
    retryDelay(defaultRetryPolicy, { attempt: 1, cause: asking(ms) }, 0);
  expect([34_070, 60_000, 60_001].map(wait)).toEqual([34_070, 60_000, undefined]);
});
