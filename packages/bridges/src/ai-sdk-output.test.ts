import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { itemId, partId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { createOpenAICompatible as createOpenAICompatibleV3 } from "ai-sdk-openai-compatible-v3";
import { describe, expect, test } from "vitest";
import { bridgeServer, chatAnswer, messagesAnswer } from "./testing/bridge-server.ts";
import { aiSdk } from "./ai-sdk.ts";
import type { AiSdkModel } from "./ai-sdk.ts";

const hi: Item = {
  id: itemId("u1"),
  author: "user",
  stop: "end",
  parts: [{ kind: "text", id: partId("p1"), text: "Hi" }],
};
const schema = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const output = { name: "place", schema };
const written = JSON.stringify(schema);

/** The call options that a request becomes. */
async function optionsOf(request: Partial<ModelRequest>): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown>[] = [];
  const model: AiSdkModel = {
    specificationVersion: "v4",
    provider: "tiny",
    modelId: "tiny-1",
    supportedUrls: {},
    doStream: async (options) => {
      seen.push({ ...options });
      return { stream: new ReadableStream({ start: (controller) => controller.close() }) };
    },
  };
  await aiSdk(model).stream({ transcript: [hi], ...request }).result;
  return seen[0] ?? {};
}

describe("the shape of a reply", () => {
  test("is a response format of theirs, and in words for providers that drop it", async () => {
    const options = await optionsOf({ output, instructions: "Be brief." });

    expect(options["responseFormat"]).toEqual({ type: "json", name: "place", schema });
    const [system] = options["prompt"] as readonly { role: string; content: string }[];
    expect(system?.role).toBe("system");
    expect(system?.content).toMatch(/^Be brief\.\n\n.*JSON/s);
    expect(system?.content).toContain(written);
  });

  test("is in words alone where it is no object, and leaves a format of the settings as it is", async () => {
    const responseFormat = { type: "json" };

    const any = await optionsOf({ output: { name: "any", schema: true } });
    const own = await optionsOf({ output, settings: { responseFormat } });

    expect(any).not.toHaveProperty("responseFormat");
    expect(JSON.stringify(any["prompt"])).toContain("JSON Schema:\\ntrue");
    expect(own["responseFormat"]).toEqual(responseFormat);
    expect(JSON.stringify(own["prompt"])).toContain("JSON Schema:");
    expect(await optionsOf({})).not.toHaveProperty("responseFormat");
  });

  test.each([
    ["v3", createOpenAICompatibleV3],
    ["v4", createOpenAICompatible],
  ] as const)("reaches a vendor of chat completions by %s", async (_, create) => {
    await using server = await bridgeServer([chatAnswer([{ content: "{}" }], "stop")]);
    const provider = { name: "tiny", baseURL: server.url };
    const plain = create(provider)("tiny-1");
    const able = create({ ...provider, supportsStructuredOutputs: true })("tiny-1");

    await aiSdk(plain).stream({ transcript: [hi], output }).result;
    await aiSdk(able).stream({ transcript: [hi], output }).result;

    const [first, second] = server.requests;
    expect(first).toMatchObject({ response_format: { type: "json_object" } });
    expect(JSON.stringify(first?.["messages"])).toContain(JSON.stringify(written).slice(1, -1));
    expect(second).toMatchObject({
      response_format: { type: "json_schema", json_schema: { name: "place" } },
    });
  });

  test("reaches Anthropic", async () => {
    const words = {
      start: { type: "text", text: "" },
      deltas: [{ type: "text_delta", text: "{}" }],
    };
    await using server = await bridgeServer([messagesAnswer([words], "end_turn")]);
    const model = createAnthropic({ baseURL: server.url, apiKey: "none" })("claude-sonnet-4-5");

    const { result } = aiSdk(model).stream({ transcript: [hi], output });

    expect(await result).toMatchObject({ stop: "end", parts: [{ kind: "text", text: "{}" }] });
    expect(server.requests[0]).toMatchObject({
      output_config: { format: { type: "json_schema", schema } },
    });
  });
});
