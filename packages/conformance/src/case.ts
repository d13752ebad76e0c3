import { MillraceError } from "@millrace/core";
import type { ErrorCode } from "@millrace/core";

/** One requirement of an implementation. Any test runner can run it; a rejection is a failure. */
export interface Case<Fixture> {
  /** A sentence that is true when the case passes. */
  readonly name: string;
  readonly run: (fixture: Fixture) => Promise<void>;
}

/** Real time after which an expected event counts as lost. */
const timeoutMs = 5_000;

export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(message);
}

/** Compares by value, bytes included. A key with the value undefined equals a missing key. */
export function assertEqual(actual: unknown, expected: unknown, message: string): void {
  const difference = differenceOf(actual, expected, "");
  if (difference !== undefined) throw new Error(`${message}: ${difference}`);
}

/** Asserts that the promise rejects with a MillraceError of this code. */
export async function assertRejects(
  work: () => Promise<unknown>,
  code: ErrorCode,
  message: string,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (MillraceError.is(error) && error.code === code) return;
    throw new Error(`${message}: expected the code ${code}, got ${String(error)}`, {
      cause: error,
    });
  }
  throw new Error(`${message}: expected the code ${code}, but it went through`);
}

/** Narrows a union by its `outcome`, or fails with the actual outcome. */
export function assertOutcome<
  Answer extends { readonly outcome: string },
  Outcome extends Answer["outcome"],
>(
  answer: Answer,
  outcome: Outcome,
  message: string,
): Extract<Answer, { readonly outcome: Outcome }> {
  if (answer.outcome !== outcome)
    throw new Error(`${message}: expected ${outcome}, got ${describe(answer)}`);
  return answer as Extract<Answer, { readonly outcome: Outcome }>;
}

/** Resolves as the promise does, or rejects after a timeout. */
export async function within<T>(promise: Promise<T>, message: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`${message}: nothing for ${timeoutMs} ms`)),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Where and how two values differ, or undefined if they are equal. */
export function differenceOf(actual: unknown, expected: unknown, path: string): string | undefined {
  if (Object.is(actual, expected)) return undefined;
  // A function, because a message about a megabyte costs more than the comparison.
  const here = (): string =>
    `${path === "" ? "it" : path} is ${describe(actual)}, not ${describe(expected)}`;
  if (!isObject(actual) || !isObject(expected)) return here();
  if (actual instanceof Uint8Array || expected instanceof Uint8Array) {
    if (!(actual instanceof Uint8Array) || !(expected instanceof Uint8Array)) return here();
    const same =
      actual.length === expected.length && actual.every((byte, at) => byte === expected[at]);
    return same ? undefined : here();
  }
  if (Array.isArray(actual) !== Array.isArray(expected)) return here();
  if (Array.isArray(actual) && Array.isArray(expected) && actual.length !== expected.length)
    return here();
  for (const key of new Set([...Object.keys(actual), ...Object.keys(expected)])) {
    const inside = differenceOf(
      Object.hasOwn(actual, key) ? actual[key] : undefined,
      Object.hasOwn(expected, key) ? expected[key] : undefined,
      path === "" ? key : `${path}.${key}`,
    );
    if (inside !== undefined) return inside;
  }
  return undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

/** A description short enough for a message. */
function describe(value: unknown): string {
  const text =
    value instanceof Uint8Array
      ? `bytes [${value.subarray(0, 16).join(" ")}] of ${value.length}`
      : (JSON.stringify(value) ?? String(value));
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text;
}
