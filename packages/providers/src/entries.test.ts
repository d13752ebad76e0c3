import { itemId } from "@millrace/core/writing";
import type { Item, Model } from "@millrace/core";
import type { Reply } from "@millrace/core/ports";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat, openaiCompatible } from "./openai.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { bytesOf } from "./testing/fixtures.ts";

const variables = ["ANTHROPIC", "OPENAI", "GEMINI"].flatMap((vendor) => [
  `${vendor}_API_KEY`,
  `${vendor}_BASE_URL`,
]);
const kept = new Map<string, string | undefined>();

beforeEach(() => {
  for (const name of variables) {
    kept.set(name, process.env[name]);
    delete process.env[name];
  }
});

afterEach(() => {
  for (const [name, value] of kept) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
});

interface Entry {
  readonly name: string;
  readonly make: (options: { baseUrl?: string; apiKey?: string }) => Model;
  readonly fixture: readonly [protocol: string, scenario: string];
  readonly path: string;
  readonly header: string;
  readonly proof: string;
  readonly variable: string;
}

const entries: readonly Entry[] = [
  {
    name: "anthropic",
    make: (options) => anthropic("claude-sonnet-5", options),
    fixture: ["anthropic-messages", "hello"],
    path: "/v1/messages",
    header: "x-api-key",
    proof: "k",
    variable: "ANTHROPIC_API_KEY",
  },
  {
    name: "openai",
    make: (options) => openai("gpt-5", options),
    fixture: ["openai-responses", "text"],
    path: "/responses",
    header: "authorization",
    proof: "Bearer k",
    variable: "OPENAI_API_KEY",
  },
  {
    name: "openaiChat",
    make: (options) => openaiChat("gpt-5", options),
    fixture: ["openai-chat", "text"],
    path: "/chat/completions",
    header: "authorization",
    proof: "Bearer k",
    variable: "OPENAI_API_KEY",
  },
  {
    name: "gemini",
    make: (options) => gemini("gemini-3-pro", options),
    fixture: ["gemini", "text"],
    path: "/models/gemini-3-pro:streamGenerateContent?alt=sse",
    header: "x-goog-api-key",
    proof: "k",
    variable: "GEMINI_API_KEY",
  },
];

describe.each(entries)("$name", ({ make, fixture, path, header, proof, variable }) => {
  test("sends its key to its path, and reads a reply over a real socket", async () => {
    const body = bytesOf(...fixture);
    await using server = await startVendorServer({ replies: [{ body, chunks: { seed: 3 } }] });
    const reply = await make({ baseUrl: server.url, apiKey: "k" }).stream({ transcript: [] })
      .result;
    expect(reply.stop).toBe("end");
    expect(server.requests[0]).toMatchObject({ path, headers: { [header]: proof } });
  });

  test("takes the key from the environment, and names the variable that is missing", async () => {
    await using server = await startVendorServer({ replies: [{ body: bytesOf(...fixture) }] });
    const model = make({ baseUrl: server.url });
    const { cause } = await model.stream({ transcript: [] }).result;
    expect(cause?.code).toBe("missing_key");
    expect(cause?.message).toContain(variable);
    process.env[variable] = "k";
    expect((await model.stream({ transcript: [] }).result).stop).toBe("end");
    expect(server.requests[0]?.headers[header]).toBe(proof);
  });

  test("takes the address from the environment, unless one is passed", async () => {
    const body = bytesOf(...fixture);
    await using server = await startVendorServer({ replies: [{ body }, { body }] });
    const model = make({ apiKey: "k" });

    process.env[variable.replace("API_KEY", "BASE_URL")] = server.url;
    expect((await model.stream({ transcript: [] }).result).stop).toBe("end");
    expect(server.requests[0]?.path).toBe(path);

    process.env[variable.replace("API_KEY", "BASE_URL")] = "http://127.0.0.1:9";
    const told = make({ apiKey: "k", baseUrl: server.url });
    expect((await told.stream({ transcript: [] }).result).stop).toBe("end");
    expect(server.requests).toHaveLength(2);
  });
});

test("a compatible server gets no key of another vendor, and keeps its own address", async () => {
  process.env["OPENAI_API_KEY"] = "secret";
  process.env["OPENAI_BASE_URL"] = "http://127.0.0.1:9";
  const body = bytesOf("openai-chat", "text");
  await using server = await startVendorServer({ replies: [{ body }] });
  const model = openaiCompatible("llama", { baseUrl: server.url });
  expect((await model.stream({ transcript: [] }).result).stop).toBe("end");
  expect(JSON.stringify(server.requests[0]?.headers)).not.toContain("secret");
});

test("a call gets another id when the transcript has the vendor's already", async () => {
  const body = bytesOf("anthropic-messages", "call");
  await using server = await startVendorServer({ replies: [{ body }, { body }] });
  const model = anthropic("claude-sonnet-5", { baseUrl: server.url, apiKey: "k" });

  const first = await model.stream({ transcript: [] }).result;
  const item: Item = { ...first, id: itemId("i1"), author: "model" };
  const second = await model.stream({ transcript: [item] }).result;

  const idsOf = ({ parts }: Reply): readonly string[] =>
    parts.flatMap((part) => (part.kind === "tool_call" ? [part.callId] : []));
  expect(idsOf(second)).toEqual(idsOf(first).map((id) => `${id}_2`));
  expect(idsOf(first).length).toBeGreaterThan(0);
});

test("D42: what a stopped request used is known", async () => {
  const whole = Buffer.from(bytesOf("anthropic-messages", "hello")).toString();
  const body = whole.slice(0, whole.indexOf("\n\n", whole.indexOf('"text_delta"')) + 2);
  await using server = await startVendorServer({ replies: [{ body, end: "stay_open" }] });
  const model = anthropic("claude-sonnet-5", { baseUrl: server.url, apiKey: "k" });
  const stream = model.stream({ transcript: [] });
  for await (const delta of stream) if (delta.op === "append_text") break;
  expect(await stream.result).toMatchObject({ stop: "aborted", usage: { inputTokens: 25 } });
});

test("each vendor is asked at its own address", async () => {
  const asked: string[] = [];
  const mine: typeof fetch = (input) => {
    asked.push(input instanceof Request ? input.url : String(input));
    return Promise.resolve(new Response("{}", { status: 400 }));
  };
  const options = { apiKey: "k", fetch: mine };
  const models = [
    anthropic("m", options),
    openai("m", options),
    openaiChat("m", options),
    gemini("m", options),
    openaiCompatible("m", { ...options, baseUrl: "http://localhost:11434/v1/" }),
  ];
  process.env["ANTHROPIC_BASE_URL"] = ""; // counts as unset
  for (const model of models) await model.stream({ transcript: [] }).result;
  expect(asked).toEqual([
    "https://api.anthropic.com/v1/messages",
    "https://api.openai.com/v1/responses",
    "https://api.openai.com/v1/chat/completions",
    "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
    "http://localhost:11434/v1/chat/completions",
  ]);
});

test("anthropic sends a token as a bearer, and no key beside it", async () => {
  process.env["ANTHROPIC_API_KEY"] = "never";
  const body = bytesOf("anthropic-messages", "hello");
  await using server = await startVendorServer({ replies: [{ body }] });

  const model = anthropic("claude-sonnet-5", { baseUrl: server.url, token: async () => "t" });
  const reply = await model.stream({ transcript: [] }).result;

  expect(reply.stop).toBe("end");
  const headers = server.requests[0]?.headers ?? {};
  expect([headers["authorization"], headers["x-api-key"]]).toEqual(["Bearer t", undefined]);
  expect(() => anthropic("claude-sonnet-5", { apiKey: "k", token: "t" })).toThrow(/both given/);
});
