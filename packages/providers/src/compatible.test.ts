import { afterEach, describe, expect, test, vi } from "vitest";
import type { JsonObject } from "@millrace/core";
import type { ModelRequest, Reply } from "@millrace/core/ports";
import * as compatible from "./compatible.ts";
import type { CompatibleOptions, CompatibleProvider } from "./compatible.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { serverStreams } from "./testing/compatible-streams.ts";

afterEach(() => void vi.unstubAllEnvs());

const { compatibleServers, ...others } = compatible;
const makers = others as Readonly<Record<string, CompatibleProvider>>;
const names = Object.keys(compatibleServers);

interface Asked {
  readonly reply: Reply;
  readonly body: JsonObject;
  readonly path: string | undefined;
  readonly authorization: string | undefined;
}

/** Sends a request to a stand-in of the server, which streams as that one does. */
async function ask(
  name: string,
  request: Partial<ModelRequest> = {},
  options: CompatibleOptions = {},
): Promise<Asked> {
  const events = serverStreams[name]?.events ?? [];
  const lines = events.map((event) =>
    typeof event === "string" ? event : `data: ${JSON.stringify(event)}`,
  );
  const replies = [{ body: lines.map((line) => `${line}\n\n`).join(""), chunks: { seed: 7 } }];
  await using server = await startVendorServer({ replies });
  const model = makers[name]?.("m", { baseUrl: `${server.url}/v1`, ...options });
  const reply = await model?.stream({ transcript: [], ...request }).result;
  const [sent] = server.requests;
  if (reply === undefined) throw new Error(`no function ${name}`);
  return {
    reply,
    body: (sent?.json ?? {}) as JsonObject,
    path: sent?.path,
    authorization: sent?.headers["authorization"] as string | undefined,
  };
}

test("each server of the table has a function and a stream of its own", () => {
  expect(names).toHaveLength(12);
  expect(Object.keys(makers).toSorted()).toEqual(names.toSorted());
  expect(Object.keys(serverStreams).toSorted()).toEqual(names.toSorted());
});

describe.each(names)("%s", (name) => {
  const server = compatibleServers[name];
  const stream = serverStreams[name];

  test("streams text, reasoning and usage in its own way", async () => {
    const { reply, path } = await ask(name, {}, { apiKey: "k" });
    const textOf = (kind: string): string =>
      reply.parts
        .flatMap((part) => (part.kind === kind && "text" in part ? [part.text] : []))
        .join("");
    expect(reply.stop).toBe("end");
    expect(textOf("reasoning").trim()).toBe(stream?.reasoning?.trim());
    expect(textOf("text").trim()).toBe(stream?.text);
    expect(reply.usage).toMatchObject({ inputTokens: 9, outputTokens: stream?.output });
    expect(path).toBe("/v1/chat/completions");
  });

  test("is asked with the key of its own variable, and with no other", async () => {
    for (const { variable } of Object.values(compatibleServers))
      vi.stubEnv(variable, `of-${variable}`);
    vi.stubEnv("OPENAI_API_KEY", "of-openai");
    expect((await ask(name)).authorization).toBe(`Bearer of-${server?.variable}`);
    vi.stubEnv(server?.variable ?? "", "");
    const { reply, authorization } = await ask(name);
    expect(authorization).toBeUndefined();
    if (server?.keyOptional === true) expect(reply.stop).toBe("end");
    else expect(reply.cause?.message).toContain(server?.variable);
  });

  test("is sent the limit of tokens, the seed and the usage's field in its own names", async () => {
    const settings = { max_completion_tokens: 7, seed: 1 };
    const { body } = await ask(name, { settings }, { apiKey: "k" });
    const { renamed = {} } = server ?? {};
    expect(body[renamed["max_completion_tokens"] ?? "max_completion_tokens"]).toBe(7);
    expect(body[renamed["seed"] ?? "seed"]).toBe(1);
    for (const field of Object.keys(renamed)) expect(body).not.toHaveProperty(field);
    expect("stream_options" in body).toBe(server?.settings?.["stream_options"] !== null);
  });

  test("is asked for a shape by a field only if it has one", async () => {
    const output = { name: "shape", schema: { type: "object", properties: {} } };
    const { body } = await ask(name, { output }, { apiKey: "k" });
    const hasField = server?.formats?.test("m") ?? true;
    expect("response_format" in body).toBe(hasField);
    expect(JSON.stringify(body["messages"]).includes("JSON Schema")).toBe(!hasField);
  });
});

const ignored = names.flatMap((name) =>
  Object.entries(compatibleServers[name]?.refused ?? {}).map(
    ([field, instead]) => [name, field, instead] as const,
  ),
);

test.each(ignored)("%s is not sent %s, which it would ignore", async (name, field, instead) => {
  const tools = [{ name: "get", input: { type: "object" } }];
  const { reply, path } = await ask(name, { tools, settings: { [field]: "required" } });
  expect(path).toBeUndefined();
  expect(reply.cause).toMatchObject({ code: "bad_request", evidence: { setting: field } });
  expect(reply.cause?.message).toContain(instead);
});

test("a choice of tools is sent in the server's words", async () => {
  const request = { tools: [{ name: "get", input: {} }], settings: { tool_choice: "required" } };
  expect((await ask("mistral", request, { apiKey: "k" })).body["tool_choice"]).toBe("any");
  expect((await ask("groq", request, { apiKey: "k" })).body["tool_choice"]).toBe("required");
});

test("one thing set under two names is refused, and what the caller sets comes before the table", async () => {
  const both = { settings: { max_tokens: 5, max_completion_tokens: 7 } };
  const { cause } = (await ask("ollama", both)).reply;
  expect(cause?.message).toMatch(/Ollama calls max_completion_tokens max_tokens, which is set too/);
  const mine = { settings: { stream_options: { include_usage: true } } };
  expect((await ask("mistral", mine, { apiKey: "k" })).body).toMatchObject(mine.settings);
});

test("options of the model's template come before the server's", async () => {
  const { reply } = await ask("lmStudio", {}, { thinkTags: false });
  expect(reply.parts.map(({ kind }) => kind)).toEqual(["text"]);
});
