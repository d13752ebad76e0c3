import { manualClock } from "@millrace/core/testing";
import { expect, test } from "vitest";
import type { ModelResponse } from "@millrace/core/ports";
import { startVendorServer } from "../serve/vendor-server.ts";
import { ask, hello, toyModel } from "../testing/toy-model.ts";
import { limitHeaders, regionHeaders, requestIdHeaders, responseOf } from "./response-headers.ts";

const now = Date.parse("2026-01-01T00:00:00.000Z");
const read = (headers: Readonly<Record<string, string>>): ModelResponse | undefined =>
  responseOf((name) => headers[name], now);

test.each<readonly [string, Readonly<Record<string, string>>, ModelResponse | undefined]>([
  [
    "Anthropic",
    {
      "request-id": "req_011",
      date: "Thu, 01 Jan 2026 00:00:00 GMT",
      "anthropic-ratelimit-requests-limit": "50",
      "anthropic-ratelimit-requests-remaining": "49",
      "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:02Z",
      "anthropic-ratelimit-input-tokens-limit": "30000",
      "anthropic-ratelimit-input-tokens-remaining": "29000",
      "anthropic-ratelimit-input-tokens-reset": "2026-01-01T00:00:03Z",
    },
    {
      requestId: "req_011",
      rateLimits: [
        { of: "requests", limit: 50, remaining: 49, resetAt: "2026-01-01T00:00:02.000Z" },
        {
          of: "input_tokens",
          limit: 30_000,
          remaining: 29_000,
          resetAt: "2026-01-01T00:00:03.000Z",
        },
      ],
    },
  ],
  [
    "OpenAI",
    {
      "x-request-id": "req_1",
      "x-ratelimit-limit-requests": "60",
      "x-ratelimit-remaining-requests": "59",
      "x-ratelimit-reset-requests": "1s",
      "x-ratelimit-limit-tokens": "150000",
      "x-ratelimit-remaining-tokens": "149984",
      "x-ratelimit-reset-tokens": "6m0s",
    },
    {
      requestId: "req_1",
      rateLimits: [
        { of: "requests", limit: 60, remaining: 59, resetAt: "2026-01-01T00:00:01.000Z" },
        { of: "tokens", limit: 150_000, remaining: 149_984, resetAt: "2026-01-01T00:06:00.000Z" },
      ],
    },
  ],
  [
    "Azure",
    {
      "apim-request-id": "a-1",
      "x-ms-region": "Sweden Central",
      "x-ratelimit-remaining-tokens": "9",
      "x-ratelimit-reset-tokens": "30",
    },
    {
      requestId: "a-1",
      region: "Sweden Central",
      rateLimits: [{ of: "tokens", remaining: 9, resetAt: "2026-01-01T00:00:30.000Z" }],
    },
  ],
  ["Amazon", { "x-amzn-requestid": "7a-1" }, { requestId: "7a-1" }],
  [
    "Cerebras",
    { "x-ratelimit-limit-requests-day": "14400", "x-ratelimit-remaining-requests-day": "14399" },
    { rateLimits: [{ of: "requests", per: "day", limit: 14_400, remaining: 14_399 }] },
  ],
  [
    "OpenRouter",
    {
      "x-ratelimit-limit": "20",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": "1767225660000",
    },
    {
      rateLimits: [
        { of: "requests", limit: 20, remaining: 0, resetAt: "2026-01-01T00:01:00.000Z" },
      ],
    },
  ],
  ["a server that reports nothing", { date: "Thu, 01 Jan 2026 00:00:00 GMT" }, undefined],
  [
    "a server that reports nonsense",
    {
      "x-request-id": "\u0007",
      "x-ratelimit-limit-tokens": "many",
      "x-ratelimit-remaining-requests": "-1",
      "x-ratelimit-reset-requests": "soon",
    },
    undefined,
  ],
])("the headers of %s are read", (_, headers, expected) => {
  expect(read(headers)).toEqual(expected);
});

test("every header of the tables counts, and the first request id is the one", () => {
  for (const name of requestIdHeaders) expect(read({ [name]: "r" })).toEqual({ requestId: "r" });
  for (const name of regionHeaders) expect(read({ [name]: "r" })).toEqual({ region: "r" });
  for (const { of, limit, remaining } of limitHeaders) {
    expect(read({ [limit]: "1" })?.rateLimits).toMatchObject([{ of, limit: 1 }]);
    expect(read({ [remaining]: "1" })?.rateLimits).toMatchObject([{ of, remaining: 1 }]);
  }
  const all = Object.fromEntries(requestIdHeaders.map((name, at) => [name, String(at)]));
  expect(read(all)?.requestId).toBe("0");
});

const headers = {
  "x-request-id": "req_7",
  "x-ratelimit-remaining-requests": "3",
  "x-ratelimit-reset-requests": "2s",
};
const expected = (at: number): ModelResponse => ({
  requestId: "req_7",
  rateLimits: [{ of: "requests", remaining: 3, resetAt: new Date(at + 2_000).toISOString() }],
});

test.each([
  ["end", { body: hello, headers: { ...headers, "content-type": "text/event-stream" } }],
  ["failed", { status: 500, body: "{}", headers }],
  ["truncated", { body: 'data: {"say":"Hel"}\n\n', headers, end: "reset" as const }],
])(
  "a reply that ends as %s has what came with the answer, also by the caller's fetch",
  async (stop, reply) => {
    await using server = await startVendorServer({ replies: [{ ...reply, times: 2 }] });
    const clock = manualClock();
    for (const own of [undefined, fetch]) {
      const model = toyModel(server.url, { retry: false, clock, fetch: own });
      const { reply: got } = await ask(model);
      if (stop !== "truncated") expect(got.stop).toBe(stop);
      expect(got.response).toEqual(expected(clock.now()));
    }
  },
);

test("a secret that a server repeats in its request id is not in the reply", async () => {
  const replies = [{ body: hello, headers: { "x-request-id": "secret-key-1234" } }];
  await using server = await startVendorServer({ replies });
  const auth = (): Record<string, string> => ({ authorization: "Bearer secret-key-1234" });
  const { reply } = await ask(toyModel(server.url, {}, { auth }));
  expect(reply.response).toEqual({ requestId: "[redacted]" });
});
