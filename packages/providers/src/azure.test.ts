import { afterEach, describe, expect, test, vi } from "vitest";
import { azure } from "./azure.ts";
import type { AzureOptions } from "./azure.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { bytesOf } from "./testing/fixtures.ts";

afterEach(() => void vi.unstubAllEnvs());

/** The request that a deployment's model sends, by a `fetch` that answers nothing. */
async function sent(options: AzureOptions): Promise<{ url: string; init: RequestInit }> {
  const asked: { url: string; init: RequestInit }[] = [];
  const mine: typeof fetch = (url, init = {}) => {
    asked.push({ url: url as string, init });
    return Promise.resolve(new Response("{}", { status: 400 }));
  };
  const model = azure("my gpt", { apiKey: "k", fetch: mine, ...options });
  const { cause } = await model.stream({ transcript: [] }).result;
  return asked[0] ?? { url: cause?.message ?? "", init: {} };
}

describe("the address of a request", () => {
  const resource = { resource: "acme" };

  test.each<readonly [string, AzureOptions, string]>([
    ["v1 Responses", resource, "https://acme.openai.azure.com/openai/v1/responses"],
    [
      "v1 chat",
      { ...resource, api: "chat" },
      "https://acme.openai.azure.com/openai/v1/chat/completions",
    ],
    [
      "v1 by its name",
      { ...resource, apiVersion: "v1" },
      "https://acme.openai.azure.com/openai/v1/responses",
    ],
    [
      "v1 with previews",
      { ...resource, apiVersion: "preview" },
      "https://acme.openai.azure.com/openai/v1/responses?api-version=preview",
    ],
    [
      "classic Responses",
      { ...resource, apiVersion: "2025-04-01-preview" },
      "https://acme.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
    ],
    [
      "classic chat",
      { ...resource, apiVersion: "2024-10-21", api: "chat" },
      "https://acme.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
    ],
    [
      "an endpoint as the portal shows it",
      { endpoint: "https://acme.services.ai.azure.com/openai/v1/" },
      "https://acme.services.ai.azure.com/openai/v1/responses",
    ],
    [
      "a gateway in front, with a path of its own",
      { endpoint: "https://gateway.example/llm/", apiVersion: "2024-10-21", api: "chat" },
      "https://gateway.example/llm/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
    ],
  ])("is right for %s", async (_, options, url) => {
    expect((await sent(options)).url).toBe(url);
  });

  test("comes from AZURE_OPENAI_ENDPOINT, and a missing one is named", async () => {
    vi.stubEnv("AZURE_OPENAI_ENDPOINT", "https://env.openai.azure.com/");
    expect((await sent({})).url).toBe("https://env.openai.azure.com/openai/v1/responses");
    vi.stubEnv("AZURE_OPENAI_ENDPOINT", "");
    expect((await sent({})).url).toBe(
      "there is no address: pass resource or endpoint, or set AZURE_OPENAI_ENDPOINT",
    );
  });
});

describe("the proof of a request", () => {
  const headersOf = async (options: AzureOptions): Promise<unknown> =>
    (await sent({ resource: "acme", ...options })).init.headers;

  test("is the key, or a token that is asked for each time", async () => {
    expect(await headersOf({})).toMatchObject({ "api-key": "k" });
    const tokens = ["first", "second"];
    const token = (): Promise<string> => Promise.resolve(tokens.shift() ?? "");
    const options = { apiKey: undefined, token };
    expect(await headersOf(options)).toMatchObject({ authorization: "Bearer first" });
    expect(await headersOf(options)).toMatchObject({ authorization: "Bearer second" });
    expect(await headersOf(options)).toBeUndefined(); // empty: nothing is sent
  });

  test("comes from AZURE_OPENAI_API_KEY", async () => {
    vi.stubEnv("AZURE_OPENAI_API_KEY", "from-env");
    expect(await headersOf({ apiKey: undefined })).toMatchObject({ "api-key": "from-env" });
  });
});

test("the body names the deployment, and its settings go by the model behind it", async () => {
  const bodyOf = async (options: AzureOptions): Promise<unknown> =>
    JSON.parse((await sent({ resource: "acme", ...options })).init.body as string);

  const unknown = await bodyOf({});
  expect(unknown).toMatchObject({ model: "my gpt", include: ["reasoning.encrypted_content"] });
  const known = await bodyOf({ model: "gpt-4o" });
  expect(known).toMatchObject({ model: "my gpt" });
  expect(known).not.toHaveProperty("include");
});

test.each<readonly [string, object, RegExp]>([
  ["a resource with its host", { resource: "https://a.openai.azure.com" }, /name of the resource/],
  ["resource and endpoint", { resource: "a", endpoint: "https://b" }, /pass one of them/],
  ["key and token", { apiKey: "k", token: "t" }, /pass the one that is to be sent/],
  ["another vendor's name of the address", { baseUrl: "https://a" }, /write it as endpoint/],
  ["a version that is none", { apiVersion: "2024" }, /leave it out for the v1 API/],
])("%s is refused at the door", (_, options, message) => {
  expect(() => azure("d", options)).toThrow(message);
});

test.each([
  ["chat", "openai-chat", "azure-placeholders", "Hi"],
  ["responses", "openai-responses", "text", "Hello, world!"],
] as const)("a reply of %s is read over a real socket", async (api, protocol, scenario, text) => {
  const body = bytesOf(protocol, scenario);
  await using server = await startVendorServer({ replies: [{ body, chunks: { seed: 3 } }] });
  const model = azure("d", { endpoint: server.url, apiKey: "k", api });

  const reply = await model.stream({ transcript: [] }).result;

  expect(reply).toMatchObject({ stop: "end", parts: [{ kind: "text", text }] });
});

test("a prompt that the filter refuses fails as a bad request, with the filter's own words", async () => {
  // The shape of https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter.
  const error = {
    message:
      "The response was filtered due to the prompt triggering the content management policy.",
    type: null,
    param: "prompt",
    code: "content_filter",
    status: 400,
    innererror: {
      code: "ResponsibleAIPolicyViolation",
      content_filter_result: { violence: { filtered: true, severity: "medium" } },
    },
  };
  const replies = [{ status: 400, body: JSON.stringify({ error }) }];
  await using server = await startVendorServer({ replies });
  const model = azure("d", { endpoint: server.url, apiKey: "k", api: "chat" });

  const { stop, cause } = await model.stream({ transcript: [] }).result;

  expect(stop).toBe("failed");
  expect(cause).toMatchObject({ code: "bad_request", retryable: false });
  expect(cause?.message).toContain("content management policy");
});
