/** Counts the HTTP requests of one call of `stream`, over real sockets. */
import type { Reply } from "@millrace/core/ports";
import { expect, test } from "vitest";
import type { VendorReply } from "./serve/vendor-reply.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { toyModel } from "./testing/toy-model.ts";

const attempts = 3;

interface Outcome {
  readonly reply: Reply;
  readonly requests: number;
  /** Notices of type `retry_scheduled`. */
  readonly retries: number;
}

/**
 * Calls a model whose vendor always sends the same reply. Waits between requests are short, but
 * real.
 */
async function stream(vendor: VendorReply, retry?: false): Promise<Outcome> {
  await using server = await startVendorServer({ replies: [{ ...vendor, times: Infinity }] });
  // Only the one that never answers is given up: a busy machine may take long for the others.
  const isSilent = "headersDelayMs" in vendor;
  const model = toyModel(server.url, {
    retry: { attempts, baseMs: 10, capMs: 300 },
    timeouts: isSilent ? { firstByteMs: 100 } : {},
  });
  let retries = 0;
  const reply = await model.stream({
    transcript: [],
    retry,
    notify: ({ type }) => (retries += type === "retry_scheduled" ? 1 : 0),
  }).result;
  return { reply, requests: server.requests.length, retries };
}

const vendors: readonly {
  readonly name: string;
  readonly vendor: VendorReply;
  readonly ending: object;
  /** The number of requests if the model may repeat them. */
  readonly requests: number;
}[] = [
  {
    name: "answers 503",
    vendor: { status: 503, body: '{"error":{"message":"busy"}}' },
    ending: { stop: "failed", cause: { code: "overloaded", evidence: { status: 503 } } },
    requests: attempts,
  },
  {
    name: "answers 429 with a delay",
    vendor: { status: 429, headers: { "retry-after-ms": "30" }, body: "" },
    ending: {
      stop: "failed",
      cause: { code: "rate_limited", evidence: { status: 429, retryAfterMs: 30 } },
    },
    requests: attempts,
  },
  {
    name: "answers 429 with a delay beyond the policy's",
    vendor: { status: 429, headers: { "retry-after": "7" }, body: "" },
    ending: {
      stop: "failed",
      cause: { code: "rate_limited", evidence: { status: 429, retryAfterMs: 7_000 } },
    },
    requests: 1,
  },
  {
    name: "answers nothing",
    vendor: { body: "", headersDelayMs: Infinity },
    ending: { stop: "failed", cause: { code: "first_byte_timeout" } },
    requests: attempts,
  },
  {
    name: "closes the stream before its first event",
    vendor: { body: ": hello\n\n", end: "half_chunk" },
    ending: { stop: "truncated", parts: [], cause: { code: "truncated_transport" } },
    requests: attempts,
  },
  {
    name: "closes the stream in the middle",
    vendor: { body: 'data: {"say":"Hel"}\n\n', end: "half_chunk" },
    ending: {
      stop: "truncated",
      parts: [{ text: "Hel" }],
      cause: { code: "truncated_transport" },
    },
    requests: 1,
  },
];

test.each(vendors)(
  "a vendor that $name gets one request with `retry: false`, and the failure is retryable",
  async ({ vendor, ending }) => {
    const { reply, requests, retries } = await stream(vendor, false);

    expect(reply).toMatchObject(ending);
    expect(reply).toMatchObject({ cause: { retryable: true } });
    expect([requests, retries]).toEqual([1, 0]);
  },
);

test.each(vendors)(
  "a vendor that $name gets $requests requests if the model may repeat them",
  async ({ vendor, ending, requests: expected }) => {
    const { reply, requests, retries } = await stream(vendor);

    expect(reply).toMatchObject(ending);
    expect([requests, retries]).toEqual([expected, expected - 1]);
  },
);
