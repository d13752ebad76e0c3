/** Settings and options that the AI SDK has no shared name for end the reply before its model is called. */
import { itemId, partId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { expect, test } from "vitest";
import { aiSdk } from "./ai-sdk.ts";
import type { AiSdkModel } from "./ai-sdk.ts";

const hi: Item = {
  id: itemId("u1"),
  author: "user",
  stop: "end",
  parts: [{ kind: "text", id: partId("p1"), text: "Hi", metadata: { options: {} } }],
};
const kept: Item = {
  ...hi,
  parts: [{ kind: "text", id: partId("p1"), text: "Hi", metadata: { options: { cache: true } } }],
};

async function call(request: Partial<ModelRequest>): Promise<{ calls: unknown[]; cause: unknown }> {
  const calls: unknown[] = [];
  const model: AiSdkModel = {
    specificationVersion: "v4",
    provider: "tiny",
    modelId: "tiny-1",
    supportedUrls: {},
    doStream: async (options) => {
      calls.push({ ...options, prompt: undefined, abortSignal: undefined });
      return { stream: new ReadableStream({ start: (controller) => controller.close() }) };
    },
  };
  const { cause } = await aiSdk(model).stream({ transcript: [hi], ...request }).result;
  return { calls, cause };
}

test("shared settings become the AI SDK's call options", async () => {
  const tools = [{ name: "fs.read", input: { type: "object" } }];
  const settings = {
    maxTokens: 9,
    stop: "x",
    effort: "max",
    toolChoice: { tool: "fs.read" },
  } as const;
  const { calls } = await call({ tools, settings });
  expect(calls).toMatchObject([
    {
      maxOutputTokens: 9,
      stopSequences: ["x"],
      reasoning: "max",
      toolChoice: { type: "tool", toolName: "fs_read" },
    },
  ]);
});

test("a setting that is left to providers is refused, with what to do", async () => {
  const { calls, cause } = await call({ settings: { cache: true } });
  expect(calls).toStrictEqual([]);
  expect(cause).toMatchObject({ code: "bad_request", evidence: { setting: "cache" } });
  expect(cause).toHaveProperty("message", expect.stringContaining("providerOptions"));
});

test("an option of a part is refused, with the part", async () => {
  const { calls, cause } = await call({ transcript: [kept] });
  expect(calls).toStrictEqual([]);
  const evidence = { itemId: "u1", partId: "p1", option: "cache" };
  expect(cause).toMatchObject({ code: "bad_request", evidence });
});
