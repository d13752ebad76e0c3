import { expect, test } from "vitest";
import { Redactor } from "./redactor.ts";

function redactorOf(...secrets: readonly string[]): Redactor {
  const redactor = new Redactor();
  for (const secret of secrets) redactor.add(secret);
  return redactor;
}

test("secrets that overlap become one replacement", () => {
  const redactor = redactorOf("abcdefgh12345678", "12345678ijklmnop");

  expect(redactor.redact("<abcdefgh12345678ijklmnop>")).toBe("<[redacted]>");
  expect(redactor.redact("abcdefgh12345678 12345678ijklmnop")).toBe("[redacted] [redacted]");
});

test("a secret inside a longer one is covered by it", () => {
  const redactor = redactorOf("abcdefgh", "xxabcdefghxx");

  expect(redactor.redact("-xxabcdefghxx-abcdefgh-")).toBe("-[redacted]-[redacted]-");
});

test("a secret that was cut at the end of the text is replaced from its eighth character on", () => {
  const redactor = redactorOf("correct-horse-battery-staple");

  expect(redactor.redact("key correct-horse-batt")).toBe("key [redacted]");
  expect(redactor.redact("key correct-")).toBe("key [redacted]");
  expect(redactor.redact("key correct")).toBe("key correct");
});

test("a secret that was deleted stays in the text, and others do not", () => {
  const redactor = redactorOf("correct-horse", "battery-staple");
  redactor.delete("correct-horse");

  expect(redactor.redact("correct-horse battery-staple")).toBe("correct-horse [redacted]");
});
