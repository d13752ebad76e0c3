import { APICallError, InvalidResponseDataError, LoadAPIKeyError } from "@ai-sdk/provider";
import { ContextOverflowError } from "@langchain/core/errors";
import { RetryError } from "ai";
import { describe, expect, test } from "vitest";
import { causeOf, isAbort } from "./cause.ts";

function answered(
  statusCode: number,
  more: Partial<ConstructorParameters<typeof APICallError>[0]> = {},
): APICallError {
  const responseBody = '{"error":{"message":"no"}}';
  return new APICallError({
    message: "no",
    url: "https://a.test",
    requestBodyValues: {},
    statusCode,
    responseBody,
    ...more,
  });
}

describe("the cause of an error that a framework reports", () => {
  test("is that of the last try", () => {
    const errors = [answered(500), answered(429, { responseHeaders: { "retry-after-ms": "250" } })];
    const error = new RetryError({ message: "gave up", reason: "maxRetriesExceeded", errors });

    expect(causeOf(error, false)).toMatchObject({
      code: "rate_limited",
      retryable: true,
      evidence: { status: 429, retryAfterMs: 250 },
    });
  });

  test("is not retryable when the provider reports that it is not", () => {
    expect(causeOf(answered(503), false)).toMatchObject({ code: "overloaded", retryable: true });
    expect(causeOf(answered(503, { isRetryable: false }), false).retryable).toBe(false);
  });

  test("is not retryable by its status when its name has another meaning", () => {
    const responseBody = '{"error":{"message":"pay","code":"insufficient_quota"}}';

    expect(causeOf(answered(429, { responseBody }), false)).toMatchObject({
      code: "quota_exceeded",
      retryable: false,
    });
  });

  test("reads the wait from headers of either kind", () => {
    const error = Object.assign(new Error("429"), {
      status: 429,
      headers: new Headers({ "retry-after": "2" }),
      error: { message: "slow" },
    });

    expect(causeOf(error, false).evidence).toMatchObject({ retryAfterMs: 2_000 });
  });

  test("names no key that the error holds", () => {
    const responseBody = '{"error":{"message":"wrong key sk-abcdefgh1jklmnopqrstuvwxyz"}}';

    const cause = JSON.stringify(causeOf(answered(401, { responseBody }), false));

    expect(cause).toContain("unauthorized");
    expect(cause).not.toContain("sk-abcdef");
  });

  test.each([
    [new LoadAPIKeyError({ message: "no key" }), "missing_key"],
    [Object.assign(new Error("slow"), { name: "TimeoutError" }), "request_timeout"],
    [
      new InvalidResponseDataError({
        data: undefined,
        message: "Response stream ended without a finish reason.",
      }),
      "truncated",
    ],
    [new InvalidResponseDataError({ data: 1, message: "odd" }), "provider_error"],
    [
      new TypeError("terminated", {
        cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
      }),
      "truncated_transport",
    ],
    [Object.assign(new Error("connect"), { code: "ECONNREFUSED" }), "connection_refused"],
    [{ type: "overloaded_error", message: "Overloaded" }, "overloaded"],
    ['{"error":{"code":"rate_limit_exceeded","message":"slow"}}', "rate_limited"],
    ["just words", "provider_error"],
    [undefined, "provider_error"],
    [42, "provider_error"],
  ])("%s is %s", (error, code) => {
    expect(causeOf(error, true).code).toBe(code);
  });

  test("is an abort by whatever name", () => {
    expect(isAbort(new DOMException("stop", "AbortError"))).toBe(true);
    expect(isAbort(new Error("stop"))).toBe(false);
    expect(isAbort(undefined)).toBe(false);
  });
});

describe("a transcript that is too long", () => {
  const tooLong = "prompt is too long: 208310 tokens > 200000 maximum";
  const tooMany =
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. Please reduce the length of the messages.";
  const status = 400;
  const inner = {
    message: tooMany,
    code: "context_length_exceeded",
    type: "invalid_request_error",
  };

  test.each([
    [
      "an AI SDK error",
      { statusCode: 400, responseBody: JSON.stringify({ error: { message: tooLong } }) },
    ],
    ["an OpenAI error", Object.assign(new Error(tooMany), { status, error: inner })],
    ["a LangChain error", new ContextOverflowError("too much")],
    ["an error with words alone", new Error("ValidationException: Input is too long for model")],
    [
      "an error of a stream",
      JSON.stringify({ type: "error", error: { type: "x", message: tooLong } }),
    ],
  ])("K21: %s is a context overflow", (_, error) => {
    expect(causeOf(error, true)).toMatchObject({ code: "context_overflow", retryable: false });
  });
});
