/** One session that goes through all formats in turn, over real sockets: tools, files and reasoning in each. */
import { File } from "node:buffer";
import { defineAgent, defineTool } from "@millrace/agent";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import type { JsonObject, Model } from "@millrace/core";
import { anthropic } from "@millrace/providers/anthropic";
import { bedrock, bedrockAnthropic } from "@millrace/providers/bedrock";
import { gemini } from "@millrace/providers/gemini";
import { openai, openaiChat } from "@millrace/providers/openai";
import { startVendorServer } from "@millrace/providers/testing";
import type { VendorReply, VendorRequest } from "@millrace/providers/testing";
import { expect, test } from "vitest";
import { z } from "zod";
import { encodeAnthropicMessages } from "../../packages/providers/src/testing/encode/anthropic-messages.ts";
import {
  encodeBedrockAnthropic,
  encodeBedrockConverse,
} from "../../packages/providers/src/testing/encode/bedrock.ts";
import type { Encode } from "../../packages/providers/src/testing/encode/encoded.ts";
import { encodeGemini } from "../../packages/providers/src/testing/encode/gemini.ts";
import { encodeOpenaiChat } from "../../packages/providers/src/testing/encode/openai-chat.ts";
import { encodeOpenaiResponses } from "../../packages/providers/src/testing/encode/openai-responses.ts";
import type { LogicalPart, LogicalReply } from "../../packages/providers/src/testing/replies.ts";
import { validateAnthropicMessages } from "../../packages/providers/src/testing/validators/anthropic-messages.ts";
import { validateBedrockConverse } from "../../packages/providers/src/testing/validators/bedrock-converse.ts";
import { validateGemini } from "../../packages/providers/src/testing/validators/gemini.ts";
import { validateOpenaiChat } from "../../packages/providers/src/testing/validators/openai-chat.ts";
import { validateOpenaiResponses } from "../../packages/providers/src/testing/validators/openai-responses.ts";
import { Random } from "../kit/random.ts";
import { runs } from "../kit/runs.ts";

interface Format {
  readonly name: string;
  readonly model: (baseUrl: string) => Model;
  readonly encode: Encode;
  readonly mediaType?: string;
  readonly validate: (body: unknown) => readonly string[];
}

const apiKey = "k";
const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const formats: readonly Format[] = [
  {
    name: "anthropic-messages",
    model: (baseUrl) => anthropic("claude-sonnet-4-5", { baseUrl, apiKey, retry: false }),
    encode: encodeAnthropicMessages,
    validate: (body) => validateAnthropicMessages(body),
  },
  {
    name: "openai-responses",
    model: (baseUrl) => openai("gpt-5", { baseUrl, apiKey, retry: false }),
    encode: encodeOpenaiResponses,
    validate: (body) => validateOpenaiResponses(body),
  },
  {
    name: "openai-chat",
    model: (baseUrl) => openaiChat("gpt-5", { baseUrl, apiKey, retry: false }),
    encode: encodeOpenaiChat,
    // Servers that imitate the vendor send reasoning, and get it back.
    validate: (body) => validateOpenaiChat(body, { extensions: true }),
  },
  {
    name: "gemini",
    model: (baseUrl) => gemini("gemini-3-pro-preview", { baseUrl, apiKey, retry: false }),
    encode: encodeGemini,
    validate: (body) => validateGemini(body, { model: "gemini-3-pro-preview" }),
  },
  {
    name: "bedrock-converse",
    model: (baseUrl) => bedrock(claude, { baseUrl, apiKey, retry: false }),
    encode: encodeBedrockConverse,
    mediaType: "application/vnd.amazon.eventstream",
    validate: (body) => validateBedrockConverse(body, { model: claude }),
  },
  {
    name: "bedrock-anthropic",
    model: (baseUrl) => bedrockAnthropic(claude, { baseUrl, apiKey, retry: false }),
    encode: encodeBedrockAnthropic,
    mediaType: "application/vnd.amazon.eventstream",
    validate: (body) => {
      const { anthropic_version: _, ...fields } = body as JsonObject;
      return validateAnthropicMessages({ ...fields, model: "claude-sonnet-4-5" });
    },
  },
];

const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const table = "city,temperature\nOslo,4\n";
const attached = [
  new Blob([pixel], { type: "image/png" }),
  new File([table], "weather.csv", { type: "text/csv" }),
];

const weather = defineTool({
  name: "weather",
  description: "Current weather in a city",
  input: z.object({ city: z.string() }),
  run: ({ city }) => ({ city, celsius: 4 }),
});

/** A reply of one of the formats: reasoning, words and two calls, or words alone once the calls are answered. */
function replyFor(number: number, isAnswer: boolean): LogicalReply {
  const call = (which: string): LogicalPart => {
    const input = { city: `Oslo ${number} ${which}` };
    const raw = JSON.stringify(input);
    const id = `call_${number}${which}`;
    return { kind: "tool_call", id, tool: "weather", raw, input, signature: undefined };
  };
  const reasoning = {
    kind: "reasoning",
    text: `Thought ${number}.`,
    signature: "QUJDRA==",
  } as const;
  const text = { kind: "text", text: `Word ${number}.`, signature: undefined } as const;
  const usage = {
    inputTokens: 10,
    outputTokens: 9,
    cachedTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
  return isAnswer
    ? { parts: [reasoning, text], stop: "end", usage }
    : { parts: [reasoning, text, call("a"), call("b")], stop: "tools", usage };
}

/** What a body lacks of the turns so far, whichever vendor wrote them. */
function lost(body: string, number: number): readonly string[] {
  const csv = ["Oslo,4", Buffer.from(table).toString("base64")];
  if (!body.includes(pixel.toString("base64"))) return ["the picture"];
  if (!csv.some((text) => body.includes(text))) return ["the file"];
  const marks = Array.from({ length: number }, (_, at) => at + 1).flatMap((turn) => [
    `Question ${turn}.`,
    `Word ${turn}.`,
    `Oslo ${turn} a`,
    `Oslo ${turn} b`,
  ]);
  return marks.filter((mark) => !body.includes(mark));
}

test("a session goes through all formats in turn, and every next request is valid and whole", async () => {
  const seed = Number(process.env["SEED"] ?? 20);
  const rounds = runs(4, 100);
  console.log(`SEED=${seed}`);
  const random = new Random(seed);
  const faults: string[] = [];
  let [turn, sent] = [0, 0];
  let format = formats[0] as Format;
  const reply = ({ body, json }: VendorRequest): VendorReply => {
    sent += 1;
    // The second request of a turn has the results of the first.
    const isAnswer = body.includes(`call_${turn}a`) || body.includes(`Oslo ${turn} a`);
    const place = `${format.name}, turn ${turn}`;
    faults.push(...format.validate(json).map((fault) => `${place}: ${fault}`));
    faults.push(...lost(body, turn - 1).map((mark) => `${place}: ${mark} is lost`));
    const { bytes } = format.encode(replyFor(turn, isAnswer), random);
    const headers = { "content-type": format.mediaType ?? "text/event-stream" };
    return { body: bytes, headers };
  };
  await using server = await startVendorServer({ replies: reply });
  const place = { id: "one-session", store: memorySessionStore(), log: memoryEventLog() };
  for (let round = 0; round < rounds; round += 1) {
    for (const next of formats) {
      format = next;
      turn += 1;
      const agent = defineAgent({ model: next.model(server.url), tools: [weather] });
      await using session = await agent.open(place);
      const result = await session.send([`Question ${turn}.`, ...attached]).result;
      expect(result, `${next.name}, turn ${turn}`).toMatchObject({
        outcome: "completed",
        text: `Word ${turn}.`,
      });
    }
  }

  expect(faults).toEqual([]);
  expect(sent).toBe(2 * turn);
  console.log(
    `count: P10 through ${formats.length} formats in turn, ${turn} turns, ${sent} requests, 0 refused`,
  );
});
