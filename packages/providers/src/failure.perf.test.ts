import { expect, test } from "vitest";
import { codeOfError } from "./failure.ts";
import { secrets } from "./transport/redact.ts";

/** What takes a millisecond in linear time takes seconds in quadratic time. */
const atMostMs = 1_000;

function cost(run: () => void): number {
  const from = performance.now();
  run();
  return performance.now() - from;
}

test("the code of an error is found in a time that is linear in its message", () => {
  const message = "exceed".repeat(20_000);

  expect(cost(() => void codeOfError([400], message))).toBeLessThan(atMostMs);
});

test("keys are looked for in a time that is linear in the text", () => {
  const texts = [
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN A ",
    "eyJaaaaaaaa.",
    "sk-a-",
    "Bearer a",
  ];

  for (const text of texts) {
    const long = text.repeat(20_000);
    expect(
      cost(() => void long.replaceAll(secrets, "")),
      text,
    ).toBeLessThan(atMostMs);
  }
});
