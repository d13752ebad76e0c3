import { afterEach, expect, test, vi } from "vitest";
import type { Model } from "@millrace/core";
import { startVendorServer } from "./serve/vendor-server.ts";
import { bytesOf } from "./testing/fixtures.ts";
import { vertexAnthropic } from "./vertex-anthropic.ts";
import { vertex } from "./vertex.ts";
import type { VertexOptions } from "./vertex.ts";

afterEach(() => void vi.unstubAllEnvs());

const project = { project: "acme", token: "t" };

/** The address that a model asks, by a `fetch` that answers nothing; else the message of its cause. */
async function asked(make: (options: { fetch: typeof fetch }) => Model): Promise<string> {
  const urls: string[] = [];
  const mine: typeof fetch = (url) => {
    urls.push(url as string);
    return Promise.resolve(new Response("{}", { status: 400 }));
  };
  const { cause } = await make({ fetch: mine }).stream({ transcript: [] }).result;
  return urls[0] ?? cause?.message ?? "";
}

const method = "streamGenerateContent?alt=sse";

test.each<readonly [string, VertexOptions, string, string]>([
  [
    "the global location, which is the default",
    project,
    "gemini-3-pro",
    `https://aiplatform.googleapis.com/v1beta1/projects/acme/locations/global/publishers/google/models/gemini-3-pro:${method}`,
  ],
  [
    "a region",
    { ...project, location: "europe-west4" },
    "gemini-3-pro",
    `https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/acme/locations/europe-west4/publishers/google/models/gemini-3-pro:${method}`,
  ],
  [
    "a multi-region",
    { ...project, location: "eu" },
    "gemini-3-pro",
    `https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/acme/locations/eu/publishers/google/models/gemini-3-pro:${method}`,
  ],
  [
    "a tuned model",
    { ...project, location: "us-central1" },
    "endpoints/123",
    `https://us-central1-aiplatform.googleapis.com/v1beta1/projects/acme/locations/us-central1/endpoints/123:${method}`,
  ],
  [
    "the express mode",
    { apiKey: "k" },
    "gemini-3-pro",
    `https://aiplatform.googleapis.com/v1beta1/publishers/google/models/gemini-3-pro:${method}`,
  ],
  [
    "a private endpoint",
    { ...project, baseUrl: "https://vertex.acme.example/v1/" },
    "gemini-3-pro",
    `https://vertex.acme.example/v1/projects/acme/locations/global/publishers/google/models/gemini-3-pro:${method}`,
  ],
  [
    "no project",
    { token: "t" },
    "gemini-3-pro",
    "there is no address: pass project, or set GOOGLE_CLOUD_PROJECT",
  ],
  [
    "no token",
    { project: "acme" },
    "gemini-3-pro",
    "there is no token: pass token, such as serviceAccount(key) or metadataToken()",
  ],
])("Gemini is asked at the address of %s", async (_, options, model, url) => {
  vi.stubEnv("GOOGLE_CLOUD_PROJECT", "");
  vi.stubEnv("GOOGLE_CLOUD_LOCATION", "");
  expect(await asked((more) => vertex(model, { ...options, ...more }))).toBe(url);
});

test("project and location come from the environment", async () => {
  vi.stubEnv("GOOGLE_CLOUD_PROJECT", "env");
  vi.stubEnv("GOOGLE_CLOUD_LOCATION", "asia-east1");
  expect(await asked((more) => vertexAnthropic("claude-sonnet-5", { token: "t", ...more }))).toBe(
    "https://asia-east1-aiplatform.googleapis.com/v1/projects/env/locations/asia-east1/publishers/anthropic/models/claude-sonnet-5:streamRawPredict",
  );
});

test("Gemini's reply is read, and the proof is the token or the key", async () => {
  const body = bytesOf("gemini", "text");
  await using server = await startVendorServer({ replies: [{ body, times: 2 }] });
  const at = { baseUrl: server.url };

  for (const options of [
    { ...project, ...at },
    { apiKey: "express", ...at },
  ]) {
    const reply = await vertex("gemini-3-pro", options).stream({ transcript: [] }).result;
    expect(reply).toMatchObject({ stop: "end", model: "gemini/gemini-3-pro" });
  }

  expect(server.requests.map(({ headers }) => headers["authorization"])).toEqual([
    "Bearer t",
    undefined,
  ]);
  expect(server.requests[1]?.headers["x-goog-api-key"]).toBe("express");
});

test("Claude's request has its model in the path and its version in the body", async () => {
  const replies = [{ body: bytesOf("anthropic-messages", "hello") }];
  await using server = await startVendorServer({ replies });
  const model = vertexAnthropic("claude-sonnet-4-5@20250929", {
    ...project,
    location: "us-east5",
    baseUrl: server.url,
    settings: { betas: ["context-1m-2025-08-07"] },
  });

  expect((await model.stream({ transcript: [] }).result).stop).toBe("end");

  const [request] = server.requests;
  expect(request?.path).toBe(
    "/projects/acme/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5%4020250929:streamRawPredict",
  );
  expect(request?.headers).toMatchObject({
    authorization: "Bearer t",
    "anthropic-beta": "context-1m-2025-08-07",
  });
  expect(request?.headers).not.toHaveProperty("anthropic-version");
  expect(request?.json).toMatchObject({
    anthropic_version: "vertex-2023-10-16",
    stream: true,
    max_tokens: 64_000,
  });
  expect(request?.json).not.toHaveProperty("model");
});

test("the shape of Claude's reply is asked in words, unless the organisation allows fields", async () => {
  const replies = [{ body: bytesOf("anthropic-messages", "hello"), times: 2 }];
  await using server = await startVendorServer({ replies });
  const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
  const output = { name: "nothing", schema };
  const options = { ...project, baseUrl: server.url };

  for (const structuredOutputs of [false, true]) {
    const model = vertexAnthropic("claude-opus-4-6", { ...options, structuredOutputs });
    await model.stream({ transcript: [], instructions: "Be brief.", output }).result;
  }

  const [worded, field] = server.requests.map(({ json }) => json);
  expect(worded).not.toHaveProperty("output_config");
  expect(worded).toMatchObject({
    system: expect.stringMatching(/^Be brief\.[^]*JSON Schema/) as unknown,
  });
  expect(field).toMatchObject({ system: "Be brief.", output_config: { format: { schema } } });
});

test.each<readonly [string, () => unknown, RegExp]>([
  [
    "a key beside a project",
    () => vertex("m", { ...project, apiKey: "k" }),
    /express mode: leave out/,
  ],
  // @ts-expect-error -- Claude takes no key.
  ["a key for Claude", () => vertexAnthropic("m", { apiKey: "k" }), /pass token/],
  ["a location that is an address", () => vertex("m", { location: "https://a" }), /use a location/],
])("%s is refused at the door", (_, make, message) => {
  expect(make).toThrow(message);
});
