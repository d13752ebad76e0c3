/** Our providers against stand-ins that enforce the vendors' rules, over real sockets. */
import { defineAgent, defineTool } from "@millrace/agent";
import {
  strictAnthropic,
  strictBedrock,
  strictDeepseek,
  strictGemini,
  strictResponses,
} from "@millrace/conformance/vendors";
import type {
  AcceptedRequest,
  PlainReply,
  StrictVendor,
  StrictVendorOptions,
} from "@millrace/conformance/vendors";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { Model, Part, Usage } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { bedrock, bedrockAnthropic } from "@millrace/providers/bedrock";
import { deepSeek } from "@millrace/providers/compatible";
import { gemini } from "@millrace/providers/gemini";
import { openai } from "@millrace/providers/openai";
import { startVendorServer } from "@millrace/providers/testing";
import { expect, test } from "vitest";
import { z } from "zod";

interface Pair {
  readonly name: string;
  readonly vendor: (options: StrictVendorOptions) => StrictVendor;
  readonly model: (baseUrl: string) => Model;
  /** The field in which the vendor wants its reasoning back. */
  readonly field: string;
}

const apiKey = "k";
const cached = { apiKey, retry: false, settings: { cache: true } } as const;
const pairs: readonly Pair[] = [
  {
    name: "anthropic",
    vendor: strictAnthropic,
    model: (baseUrl) => anthropic("claude-opus-5-5", { baseUrl, ...cached }),
    field: "signature",
  },
  {
    name: "bedrock",
    vendor: strictBedrock,
    model: (baseUrl) => bedrock("anthropic.claude-opus-5-5", { baseUrl, ...cached }),
    field: "signature",
  },
  {
    name: "bedrockAnthropic",
    vendor: strictBedrock,
    model: (baseUrl) => bedrockAnthropic("anthropic.claude-opus-5-5", { baseUrl, ...cached }),
    field: "signature",
  },
  {
    name: "openai",
    vendor: strictResponses,
    model: (baseUrl) => openai("gpt-5.6-sol", { baseUrl, apiKey, retry: false }),
    field: "encrypted_content",
  },
  {
    name: "gemini",
    vendor: strictGemini,
    model: (baseUrl) => gemini("gemini-3-pro-preview", { baseUrl, apiKey, retry: false }),
    field: "thoughtSignature",
  },
  {
    name: "deepSeek",
    vendor: strictDeepseek,
    model: (baseUrl) => deepSeek("deepseek-v4-pro", { baseUrl, apiKey, retry: false }),
    field: "reasoning_content",
  },
];

const weather = defineTool({
  name: "weather",
  description: "Current weather in a city",
  input: z.object({ city: z.string() }),
  run: ({ city }) => ({ city, celsius: 4 }),
});

/** Calls the tool once for each question, then answers. */
function script({ number, answersCalls }: AcceptedRequest): PlainReply {
  if (answersCalls) return { think: `Thought ${number}.`, text: `Four degrees ${number}.` };
  const calls = [{ name: "weather", input: { city: `Oslo ${number}` } }];
  return { think: `Thought ${number}.`, text: "I look.", calls };
}

test.for(pairs.map((pair) => [pair.name, pair] as const))(
  "a session of %s breaks no rule of the vendor, and each reply is decoded",
  async ([, { vendor: open, model, field }]) => {
    const vendor = open({ now: () => 0 });
    const accepted: AcceptedRequest[] = [];
    await using server = await startVendorServer({
      replies: (request) =>
        vendor.answer(request, (each) => {
          accepted.push(each);
          return script(each);
        }),
    });
    const agent = defineAgent({
      model: model(server.url),
      instructions: "You help. ".repeat(1_000),
      tools: [weather],
    });
    await using session = await agent.open({
      id: "s",
      store: memorySessionStore(),
      log: memoryEventLog(),
    });

    for (const question of ["One?", "Two?", "Three?"]) {
      const result = await session.send(question).result;
      expect(result).toMatchObject({ outcome: "completed" });
    }

    expect(vendor.refused).toEqual([]);
    expect(vendor.dropped).toEqual([]);
    expect(accepted.map(({ lastUserText }) => lastUserText)).toEqual([
      "One?",
      "",
      "Two?",
      "",
      "Three?",
      "",
    ]);
    expect(accepted.every(({ tools }) => tools.includes("weather"))).toBe(true);
    expect(accepted[0]?.instructions).toContain("You help.");
    const replies = session.transcript.filter(({ author }) => author === "model");
    expect(replies.map(({ parts }) => textsOf(parts))).toEqual(
      [1, 3, 5].flatMap((number) => [
        [`Thought ${number}.`, "I look.", `Oslo ${number}`],
        [`Thought ${number + 1}.`, `Four degrees ${number + 1}.`],
      ]),
    );
    expect(replies.every(({ parts }) => JSON.stringify(parts).includes(`"${field}"`))).toBe(true);
    const sum = (key: keyof Usage): number =>
      replies.reduce((total, { usage }) => total + (usage?.[key] ?? 0), 0);
    const { total, read, write } = vendor.bill;
    expect([sum("inputTokens"), sum("cachedTokens"), sum("cacheWriteTokens")]).toEqual([
      total,
      read,
      write,
    ]);
    expect(read).toBeGreaterThan(10_000);
  },
);

function textsOf(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => {
    if (part.kind === "text" || part.kind === "reasoning") return [part.text];
    if (part.kind === "tool_call") return [(part.input as { city: string }).city];
    return [];
  });
}
