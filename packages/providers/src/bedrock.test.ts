import { redact } from "@millrace/core/secrets";
import { manualClock } from "@millrace/core/testing";
import { itemId, partId } from "@millrace/core/writing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../../tests/kit/until.ts";
import { bedrock, bedrockAnthropic } from "./bedrock.ts";
import type { BedrockOptions } from "./bedrock.ts";
import type { VendorReply, VendorRequest } from "./serve/vendor-reply.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { amzDate, signAws } from "./sigv4.ts";
import { awsChunk, awsException, joined } from "./testing/encode/aws-event-stream.ts";
import { bytesOf } from "./testing/fixtures.ts";

const name = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const keys = {
  accessKeyId: "AKIDEXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  sessionToken: "session-token-of-these-keys",
};
const variables = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_BEARER_TOKEN_BEDROCK",
  "AWS_REGION",
  "AWS_DEFAULT_REGION",
  "AWS_ENDPOINT_URL",
  "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
];
const kept = new Map<string, string | undefined>();

beforeEach(() => {
  for (const variable of variables) {
    kept.set(variable, process.env[variable]);
    delete process.env[variable];
  }
});

afterEach(() => {
  for (const [variable, value] of kept) {
    if (value === undefined) delete process.env[variable];
    else process.env[variable] = value;
  }
});

const stream = { "content-type": "application/vnd.amazon.eventstream" };

function replyOf(scenario: string): VendorReply {
  return { body: bytesOf("bedrock-converse", scenario), headers: stream, chunks: { seed: 3 } };
}

/** Events of Anthropic's API, as InvokeModelWithResponseStream sends them. */
function chunksOf(...events: readonly object[]): VendorReply {
  const body = joined(events.map((event) => awsChunk(JSON.stringify(event))));
  return { body, headers: stream, chunks: { seed: 5 } };
}

const said = [
  { type: "message_start", message: { id: "msg_bdrk_1", content: [], usage: { input_tokens: 3 } } },
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello" } },
  { type: "content_block_stop", index: 0 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 4 } },
  { type: "message_stop", "amazon-bedrock-invocationMetrics": { inputTokenCount: 3 } },
];

const question = {
  id: itemId("i1"),
  author: "user",
  parts: [{ kind: "text", id: partId("p1"), text: "Hi" }],
  stop: "end",
} as const;

/** The signature that AWS would compute from a request as it arrived. */
function expectedProof({ headers, path, body }: VendorRequest, now: number): string {
  const signed = /SignedHeaders=([^,]+)/.exec(String(headers["authorization"]))?.[1] ?? "";
  const own = signed.split(";").map((each) => [each, String(headers[each])] as const);
  const request = { method: "POST", path, headers: own, body };
  return signAws(request, { region: "eu-central-1", service: "bedrock", now }, keys).authorization;
}

describe.each([
  { make: bedrock, entry: "bedrock", path: "converse-stream", reply: () => replyOf("text") },
  {
    make: bedrockAnthropic,
    entry: "bedrockAnthropic",
    path: "invoke-with-response-stream",
    reply: () => chunksOf(...said),
  },
])("$entry", ({ make, path, reply }) => {
  const region = "eu-central-1";

  test("signs what it sends, by the clock of its options, and reads the reply over a real socket", async () => {
    await using server = await startVendorServer({ replies: [reply()] });
    const clock = manualClock(Date.parse("2026-03-01T10:00:00Z"));
    const credentials = async (): Promise<typeof keys> => keys;
    const model = make(name, { baseUrl: server.url, region, credentials, clock });

    const { stop, parts } = await model.stream({ transcript: [question] }).result;

    expect(stop).toBe("end");
    expect(parts).toHaveLength(1);
    const [request] = server.requests;
    if (request === undefined) throw new Error("no request came");
    expect(request.path).toBe(`/model/${encodeURIComponent(name)}/${path}`);
    expect(request.path).toContain("%3A0");
    expect(request.headers).toMatchObject({
      "x-amz-date": amzDate(clock.now()),
      "x-amz-security-token": keys.sessionToken,
      accept: "application/vnd.amazon.eventstream",
    });
    expect(request.headers["authorization"]).toContain(
      "/20260301/eu-central-1/bedrock/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, ",
    );
    expect(request.headers["authorization"]).toBe(expectedProof(request, clock.now()));
  });

  test("signs AWS's own headers that the caller adds", async () => {
    await using server = await startVendorServer({ replies: [reply()] });
    const headers = { "X-Amzn-Bedrock-Trace": "ENABLED", "x-other": "1" };
    const model = make(name, { baseUrl: server.url, region, credentials: keys, headers });

    await model.stream({ transcript: [question] }).result;

    const proof = String(server.requests[0]?.headers["authorization"]);
    expect(proof).toContain("x-amzn-bedrock-trace");
    expect(proof).not.toContain("x-other");
  });

  test("sends a bearer key instead, which needs no region", async () => {
    await using server = await startVendorServer({ replies: [reply()] });
    const model = make(name, { baseUrl: server.url, apiKey: "bedrock-api-key-1" });

    expect((await model.stream({ transcript: [question] }).result).stop).toBe("end");

    expect(server.requests[0]?.headers["authorization"]).toBe("Bearer bedrock-api-key-1");
    expect(server.requests[0]?.headers["x-amz-date"]).toBeUndefined();
  });

  test("takes keys, region and address from the environment, and a bearer key before them", async () => {
    await using server = await startVendorServer({ replies: [reply(), reply()] });
    process.env["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"] = server.url;
    const model = make(name);
    expect((await model.stream({ transcript: [] }).result).cause).toMatchObject({
      code: "missing_key",
      message: expect.stringContaining("AWS_ACCESS_KEY_ID") as string,
    });
    process.env["AWS_ACCESS_KEY_ID"] = keys.accessKeyId;
    process.env["AWS_SECRET_ACCESS_KEY"] = keys.secretAccessKey;
    expect((await model.stream({ transcript: [] }).result).cause?.message).toContain("AWS_REGION");
    process.env["AWS_REGION"] = region;
    expect((await model.stream({ transcript: [] }).result).stop).toBe("end");
    process.env["AWS_BEARER_TOKEN_BEDROCK"] = "bearer-of-the-environment";
    expect((await model.stream({ transcript: [] }).result).stop).toBe("end");

    expect(server.requests.map(({ headers }) => String(headers["authorization"]))).toEqual([
      expect.stringContaining("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"),
      "Bearer bearer-of-the-environment",
    ]);
  });

  test("keeps its secrets out of every message, and words of its headers in them", async () => {
    const message = `no, ${keys.secretAccessKey} and ${keys.sessionToken} have no content-type`;
    const body = JSON.stringify({ message });
    await using server = await startVendorServer({ replies: [{ status: 400, body }] });
    const model = make(name, { baseUrl: server.url, region, credentials: keys });

    const { cause } = await model.stream({ transcript: [question] }).result;

    expect(cause?.message).toContain("have no content-type");
    expect(JSON.stringify(cause)).not.toContain(keys.secretAccessKey);
    expect(JSON.stringify(cause)).not.toContain(keys.sessionToken);
    expect(redact(`bedrock ${region} AWS4-HMAC-SHA256`)).toBe(`bedrock ${region} AWS4-HMAC-SHA256`);
  });

  test("ends when the caller stops it, and closes the socket", async () => {
    const half = joined([bytesOf("bedrock-converse", "no-stop")]);
    await using server = await startVendorServer({
      replies: [{ body: half, headers: stream, end: "stay_open" }],
    });
    const stopper = new AbortController();
    const model = make(name, { baseUrl: server.url, apiKey: "bedrock-api-key-1" });
    const running = model.stream({ transcript: [question], signal: stopper.signal });
    await until(() => server.requests.length === 1, "the request came");
    stopper.abort();

    expect((await running.result).stop).toBe("aborted");
    expect((await server.requests[0]?.ended)?.by).toBe("client");
  });

  test("names an exception in the stream by its kind, and tries again before the first delta", async () => {
    const body = awsException("throttlingException", '{"message":"Too many requests"}');
    await using server = await startVendorServer({ replies: [{ body, headers: stream }, reply()] });
    const retry = { baseMs: 1, capMs: 1 };
    const model = make(name, { baseUrl: server.url, apiKey: "bedrock-api-key-1", retry });
    const seen: string[] = [];

    const { stop } = await model.stream({
      transcript: [question],
      notify: (notice) => void ("cause" in notice && seen.push(notice.cause.code)),
    }).result;

    expect(stop).toBe("end");
    expect(seen).toEqual(["rate_limited"]);
  });
});

describe("the address", () => {
  test.each([
    ["us-east-1", "https://bedrock-runtime.us-east-1.amazonaws.com"],
    ["us-gov-west-1", "https://bedrock-runtime.us-gov-west-1.amazonaws.com"],
    ["cn-north-1", "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"],
    ["eusc-de-east-1", "https://bedrock-runtime.eusc-de-east-1.amazonaws.eu"],
    ["us-isob-east-1", "https://bedrock-runtime.us-isob-east-1.sc2s.sgov.gov"],
  ])("of %s is that of its partition", async (region, origin) => {
    const urls: string[] = [];
    const fetch = async (url: string | URL | Request): Promise<Response> => {
      urls.push(url instanceof Request ? url.url : String(url));
      return new Response("{}", { status: 400 });
    };

    await bedrock("m", { region, apiKey: "bedrock-api-key-1", fetch }).stream({ transcript: [] })
      .result;

    expect(urls.map((url) => new URL(url).origin)).toEqual([origin]);
  });

  test("is missing without a region, and the message says what to set", async () => {
    const { cause } = await bedrock("m", { apiKey: "bedrock-api-key-1" }).stream({ transcript: [] })
      .result;

    expect(cause?.message).toContain("pass region, or set AWS_REGION");
  });

  test("is not made of what is no region", async () => {
    process.env["AWS_REGION"] = "evil.example/x";

    const { cause } = await bedrock("m", { apiKey: "bedrock-api-key-1" }).stream({ transcript: [] })
      .result;

    expect(cause?.message).toContain("is no region");
  });
});

describe("what can't be used", () => {
  test.each<[string, unknown, string]>([
    ["a region with a dot", { region: "us.east" }, "us-east-1"],
    ["credentials without a key", { credentials: { user: "x" } }, "accessKeyId"],
    ["two ways of proof", { apiKey: "k", credentials: keys }, "pass one of them"],
    ["another library's option", { baseURL: "http://localhost" }, "baseUrl"],
  ])("%s is refused at the door", (_, options, words) => {
    expect(() => bedrock("m", options as BedrockOptions)).toThrow(words);
    expect(() => bedrock("m", options as BedrockOptions)).not.toThrow(keys.secretAccessKey);
  });

  test.each([
    ["a key that ends with a line break", { ...keys, secretAccessKey: "secret\n" }, "trim it"],
    ["a key that is empty", { ...keys, accessKeyId: "" }, "no accessKeyId"],
  ])("%s ends the request before it is sent", async (_, credentials, words) => {
    const model = bedrock("m", { region: "us-east-1", credentials });

    const { cause } = await model.stream({ transcript: [] }).result;

    expect(cause).toMatchObject({ code: "missing_key" });
    expect(cause?.message).toContain(words);
  });
});

describe("an answer with an error", () => {
  const long = "Input is too long for requested model.";
  const clock =
    "Signature expired: 20260301T100000Z is now earlier than 20260301T101000Z (20260301T101500Z - 5 min.)";
  const expired = "The security token included in the request is expired";

  // Statuses and names by errors.d.ts of @aws-sdk/client-bedrock-runtime and AWS's list of common errors.
  test.each<[number, string, string, string, boolean, string]>([
    [429, "ThrottlingException", "Too many requests", "rate_limited", true, ""],
    [429, "ThrottlingException", "Too many tokens per day", "quota_exceeded", false, ""],
    [429, "ModelNotReadyException", "Model is not ready", "overloaded", true, ""],
    [408, "ModelTimeoutException", "Model has timed out", "server_error", true, ""],
    [424, "ModelErrorException", "The model failed", "provider_error", false, ""],
    [500, "InternalServerException", "Oh", "server_error", true, ""],
    [503, "ServiceUnavailableException", "Busy", "overloaded", true, ""],
    [400, "ServiceQuotaExceededException", "Over", "quota_exceeded", false, ""],
    [404, "ResourceNotFoundException", "No such model", "not_found", false, ""],
    [400, "ValidationException", "Bad", "bad_request", false, ""],
    [400, "ValidationException", long, "context_overflow", false, ""],
    [403, "AccessDeniedException", "No", "forbidden", false, ""],
    [403, "InvalidSignatureException", clock, "unauthorized", false, "clock is wrong"],
    [403, "ExpiredTokenException", expired, "unauthorized", false, "get new ones"],
  ])("%i %s, %s, is %s", async (status, type, message, code, retryable, advice) => {
    const headers = {
      "content-type": "application/json",
      "x-amzn-errortype": `${type}:http://internal.amazon.com/coral/com.amazon.bedrock/`,
      "x-amzn-requestid": "6a2f",
    };
    const body = JSON.stringify({ message });
    await using server = await startVendorServer({ replies: [{ status, headers, body }] });
    const options = { baseUrl: server.url, apiKey: "bedrock-api-key-1", retry: false } as const;

    const { cause } = await bedrock(name, options).stream({ transcript: [question] }).result;

    expect(cause).toMatchObject({ code, retryable, evidence: { status, requestId: "6a2f" } });
    expect(cause?.message).toContain(advice);
  });

  test("has its name in the body where a proxy took the header away", async () => {
    const body = '{"__type":"com.amazon.coral.service#UnrecognizedClientException","Message":"No"}';
    await using server = await startVendorServer({ replies: [{ status: 403, body }] });
    const options = { baseUrl: server.url, apiKey: "bedrock-api-key-1" };

    const { cause } = await bedrock(name, options).stream({ transcript: [question] }).result;

    expect(cause).toMatchObject({ code: "unauthorized" });
  });
});

test("usage that never follows the stop is waited for briefly, on a body that stays open", async () => {
  const reply = { ...replyOf("no-metadata"), end: "stay_open" } as VendorReply;
  await using server = await startVendorServer({ replies: [reply] });
  const clock = manualClock();
  const options = { baseUrl: server.url, apiKey: "bedrock-api-key-1", clock };
  const running = bedrock(name, options).stream({ transcript: [question], stall: false });
  // One sleep watches the request, and one waits for the usage.
  await until(() => clock.sleepers() === 2, "the reply is complete");

  await clock.advance(2_000);

  expect((await running.result).stop).toBe("end");
});

test("bedrockAnthropic sends Anthropic's body without model and stream, with betas in a list (B11)", async () => {
  await using server = await startVendorServer({ replies: [chunksOf(...said)] });
  const settings = { betas: ["context-1m-2025-08-07", "other"], max_tokens: 100 };
  const options = { baseUrl: server.url, apiKey: "bedrock-api-key-1", settings };

  const reply = await bedrockAnthropic(name, options).stream({ transcript: [question] }).result;

  expect(reply.parts).toMatchObject([{ kind: "text", text: "Hello" }]);
  expect(reply.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  expect(server.requests[0]?.json).toEqual({
    anthropic_version: "bedrock-2023-05-31",
    anthropic_beta: ["context-1m-2025-08-07", "other"],
    max_tokens: 100,
    messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
  });
  expect(server.requests[0]?.headers["anthropic-version"]).toBeUndefined();
});

test("bedrockAnthropic refuses a tier in the body, which Bedrock takes as a header", async () => {
  const settings = { serviceTier: "auto" } as const;
  const model = bedrockAnthropic(name, { region: "us-east-1", apiKey: "k", settings });

  const { cause } = await model.stream({ transcript: [question] }).result;

  expect(cause?.message).toContain("X-Amzn-Bedrock-Service-Tier");
});

test("bedrock takes settings that vendors share beside its own, and refuses two for one thing", async () => {
  await using server = await startVendorServer({ replies: [replyOf("text")] });
  const place = { baseUrl: server.url, apiKey: "bedrock-api-key-1" };
  const settings = {
    maxTokens: 50,
    inferenceConfig: { topP: 0.5 },
    serviceTier: { type: "reserved" },
  };
  const twice = { maxTokens: 50, inferenceConfig: { maxTokens: 60 } };

  await bedrock(name, { ...place, settings }).stream({ transcript: [question] }).result;
  const refused = await bedrock(name, { ...place, settings: twice }).stream({
    transcript: [question],
  }).result;

  expect(server.requests[0]?.json).toMatchObject({
    inferenceConfig: { topP: 0.5, maxTokens: 50 },
    serviceTier: { type: "reserved" },
  });
  expect(refused.cause?.message).toContain("inferenceConfig.maxTokens is given too");
  expect(server.requests).toHaveLength(1);
});
