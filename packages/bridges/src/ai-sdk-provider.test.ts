import { generateText, Output, stepCountIs, streamText, tool } from "ai";
import type { ProviderV4 } from "@ai-sdk/provider";
import type { Model } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { call, fail, say, scriptedModel, think } from "@millrace/core/testing";
import { checkTranscript } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { aiSdkProvider } from "./ai-sdk.ts";

const weather = tool({
  description: "tells the weather",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ sky: `rain in ${city}` }),
});
const broken = tool({
  description: "fails",
  inputSchema: z.object({}),
  execute: async (): Promise<string> => {
    throw new Error("the wire is cut");
  },
});

describe("a model of ours in the AI SDK", () => {
  it("calls tools and gets back all that was said", async () => {
    const { model, requests } = noting([
      [
        think("Oslo is wet", { signature: "s1" }),
        call("weather", { city: "Oslo" }),
        call("broken", {}),
      ],
      [say("Pack boots")],
    ]);

    const { text, steps } = await generateText({
      model,
      system: "Be brief",
      prompt: "What do I pack?",
      tools: { weather, broken },
      stopWhen: stepCountIs(3),
    });

    expect([text, steps.map(({ finishReason }) => finishReason)]).toEqual([
      "Pack boots",
      ["tool-calls", "stop"],
    ]);
    const last = requests.at(-1);
    expect(last).toMatchObject({ instructions: "Be brief", tools: [{ name: "weather" }, {}] });
    expect(last?.transcript.map(({ author, parts }) => [author, ...parts.map(textOf)])).toEqual([
      ["user", "What do I pack?"],
      ["model", "Oslo is wet", 'weather {"city":"Oslo"}', "broken {}"],
      ["tool", 'ok: {"sky":"rain in Oslo"}'],
      ["tool", "failed: Error: the wire is cut"],
    ]);
    expect(checkTranscript(last?.transcript ?? [])).toEqual([]);
    expect(last?.transcript[1]).toMatchObject({
      model: "scripted/model",
      parts: [{ opaque: { signature: "s1" } }, {}, {}],
    });
  });

  it("passes on the shape of the answer, files, and the vendor's own settings", async () => {
    const { model, requests } = noting([[say('{"city":"Oslo"}')]]);
    const data = new Uint8Array([1, 2, 3]);

    const { output } = await generateText({
      model,
      output: Output.object({ schema: z.object({ city: z.string() }) }),
      providerOptions: { millrace: { max_tokens: 5 } },
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "Where is it?" },
            { type: "file", data, mediaType: "image/png" },
          ],
        },
      ],
    });

    expect(output).toEqual({ city: "Oslo" });
    expect(requests[0]).toMatchObject({
      output: { schema: { properties: { city: { type: "string" } } } },
      settings: { max_tokens: 5 },
      transcript: [{ parts: [{ text: "Where is it?" }, { mediaType: "image/png", bytes: data }] }],
    });
  });

  it("passes on settings that all vendors share, and refuses others with what to do", async () => {
    const { model, requests } = noting([[say("so")]]);
    const common = { model, prompt: "Hello", maxRetries: 0 };
    await generateText({
      ...common,
      maxOutputTokens: 7,
      temperature: 0.5,
      topP: 0.25,
      stopSequences: ["x"],
      seed: 3,
      reasoning: "low",
    });

    expect(requests[0]?.settings).toStrictEqual({
      maxTokens: 7,
      temperature: 0.5,
      topP: 0.25,
      stop: ["x"],
      seed: 3,
      effort: "low",
    });
    await expect(generateText({ ...common, topK: 3 })).rejects.toThrow(
      "topK is not the same for all vendors: write it into providerOptions.millrace",
    );
  });

  it("fails with the cause of a reply that failed", async () => {
    const { model } = noting([[say("so"), fail("overloaded", "the vendor is busy")]]);

    const asked = generateText({ model, prompt: "Hello", maxRetries: 0 });

    await expect(asked).rejects.toThrow("overloaded: the vendor is busy");
  });

  it("refuses to stream to its caller, and models that are no language models", async () => {
    const errors: string[] = [];
    const onError = ({ error }: { readonly error: unknown }): void =>
      void errors.push(String(error));
    const { model } = noting([]);
    await streamText({ model, prompt: "Hello", onError }).consumeStream();

    expect(errors.join()).toContain("call generateText");
    expect(() => aiSdkProvider(() => scriptedModel([])).imageModel("pictures")).toThrow("pictures");
  });
});

function noting(script: Parameters<typeof scriptedModel>[0]): {
  readonly model: ReturnType<ProviderV4["languageModel"]>;
  readonly requests: readonly ModelRequest[];
} {
  const requests: ModelRequest[] = [];
  const scripted = scriptedModel(script);
  const stream: Model["stream"] = (request) => {
    requests.push(request);
    return scripted.stream(request);
  };
  const provider: ProviderV4 = aiSdkProvider(() => ({ ...scripted, stream }));
  return { model: provider.languageModel("any"), requests };
}

function textOf(part: ModelRequest["transcript"][number]["parts"][number]): string {
  if (part.kind === "tool_call") return `${part.tool} ${part.raw}`;
  if (part.kind === "tool_result") return `${part.status}: ${part.text}`;
  return "text" in part ? part.text : part.kind;
}
