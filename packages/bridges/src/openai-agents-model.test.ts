import { Agent, Runner, tool } from "@openai/agents";
import type { ModelProvider } from "@openai/agents";
import type { Model } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { call, fail, say, scriptedModel, think } from "@millrace/core/testing";
import { checkTranscript } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openaiAgentsProvider } from "./openai-agents.ts";

const weather = tool({
  name: "weather",
  description: "tells the weather",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `rain in ${city}`,
});

describe("a model of ours in the OpenAI Agents SDK", () => {
  it("calls tools, hands over, and gets back all that was said", async () => {
    const { model, requests } = noting([
      [call("transfer_to_packer", {})],
      [think("Oslo is wet", { signature: "s1" }), call("weather", { city: "Oslo" })],
      [say("Pack "), say("boots")],
    ]);
    const packer = new Agent({
      name: "packer",
      instructions: "Be brief",
      model: "any",
      tools: [weather],
    });
    const desk = new Agent({ name: "desk", model: "any", handoffs: [packer] });

    const { finalOutput, rawResponses } = await runnerOf(model).run(desk, "What do I pack?");

    expect(finalOutput).toBe("Pack boots");
    expect(rawResponses.map(({ usage }) => usage.requests)).toEqual([1, 1, 1]);
    const last = requests.at(-1);
    expect(last).toMatchObject({ instructions: "Be brief", tools: [{ name: "weather" }] });
    expect(last?.transcript.map(({ author, parts }) => [author, ...parts.map(textOf)])).toEqual([
      ["user", "What do I pack?"],
      ["model", "transfer_to_packer {}"],
      ["tool", '{"assistant":"packer"}'],
      ["model", "Oslo is wet", 'weather {"city":"Oslo"}'],
      ["tool", "rain in Oslo"],
    ]);
    expect(checkTranscript(last?.transcript ?? [])).toEqual([]);
    expect(last?.transcript[3]).toMatchObject({
      model: "scripted/model",
      parts: [{ opaque: { signature: "s1" } }, {}],
    });
  });

  it("passes on the shape of the answer, images, and the vendor's own settings", async () => {
    const { model, requests } = noting([[say('{"city":"Oslo"}')]]);
    const outputType = z.object({ city: z.string() });
    const modelSettings = { providerData: { max_tokens: 5 } };
    const agent = new Agent({ name: "a", model: "any", outputType, modelSettings });
    const image = "https://example.invalid/a.png";
    const content = [
      { type: "input_text" as const, text: "Where is it?" },
      { type: "input_image" as const, image },
    ];

    const { finalOutput } = await runnerOf(model).run(agent, [{ role: "user", content }]);

    expect(finalOutput).toEqual({ city: "Oslo" });
    expect(requests[0]).toMatchObject({
      output: { schema: { properties: { city: { type: "string" } } } },
      settings: { max_tokens: 5 },
      transcript: [{ parts: [{ text: "Where is it?" }, { kind: "media", url: image }] }],
    });
  });

  it("passes on settings that all vendors share, and refuses others with what to do", async () => {
    const { model, requests } = noting([[say("so")]]);
    const modelSettings = { temperature: 0.5, topP: 0.25, maxTokens: 7, parallelToolCalls: false };
    const agent = new Agent({ name: "a", model: "any", modelSettings });
    await runnerOf(model).run(agent, "Hello");

    const shared = { temperature: 0.5, topP: 0.25, maxTokens: 7, parallelTools: false };
    expect(requests[0]?.settings).toStrictEqual(shared);

    const odd = new Agent({ name: "a", model: "any", modelSettings: { truncation: "auto" } });
    await expect(runnerOf(model).run(odd, "Hello")).rejects.toThrow(
      "truncation is not the same for all vendors: write it into modelSettings.providerData",
    );
  });

  it("fails with the cause of a reply that failed", async () => {
    const { model } = noting([[say("so"), fail("overloaded", "the vendor is busy")]]);
    const run = runnerOf(model).run(new Agent({ name: "a", model: "any" }), "Hello");

    await expect(run).rejects.toThrow("overloaded: the vendor is busy");
  });

  it("refuses what only OpenAI can do, and to stream to its caller", async () => {
    const provider = openaiAgentsProvider(() => scriptedModel([]));
    const asked = provider
      .getModel()
      .getResponse({ input: "a", previousResponseId: "r1" } as object as { input: string });

    await expect(asked).rejects.toThrow("previousResponseId");
    expect(() => provider.getModel().getStreamedResponse({ input: "a" })).toThrow("without stream");
  });
});

function runnerOf(model: Model): Runner {
  const modelProvider: ModelProvider = openaiAgentsProvider(() => model);
  return new Runner({ modelProvider, tracingDisabled: true });
}

function noting(script: Parameters<typeof scriptedModel>[0]): {
  readonly model: Model;
  readonly requests: readonly ModelRequest[];
} {
  const requests: ModelRequest[] = [];
  const scripted = scriptedModel(script);
  const stream: Model["stream"] = (request) => {
    requests.push(request);
    return scripted.stream(request);
  };
  return { model: { ...scripted, stream }, requests };
}

function textOf(part: ModelRequest["transcript"][number]["parts"][number]): string {
  if (part.kind === "tool_call") return `${part.tool} ${part.raw}`;
  return "text" in part ? part.text : part.kind;
}
