/** Through each entry, every setting that vendors share is in the request, or the vendor is not asked. */
import { itemId, partId } from "@millrace/core/writing";
import type { Json, Model } from "@millrace/core";
import type { ModelRequest, RequestSettings } from "@millrace/core/ports";
import { expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { azure } from "./azure.ts";
import { bedrock, bedrockAnthropic } from "./bedrock.ts";
import * as compatible from "./compatible.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat, openaiCompatible } from "./openai.ts";
import { settingNames } from "./protocols/settings.ts";
import { doesByItself, marksIn } from "./testing/settings/by-itself.ts";
import { settingValues } from "./testing/settings/cases.ts";
import { vertexAnthropic } from "./vertex-anthropic.ts";
import { vertex } from "./vertex.ts";

interface Entry {
  readonly name: string;
  /** The format that it speaks, and a model of it. */
  readonly format: string;
  readonly model: string;
  readonly make: (fetch: typeof globalThis.fetch, settings: RequestSettings) => Model;
}

const { compatibleServers, ...servers } = compatible;
const apiKey = "k";
const region = { region: "us-east-1", apiKey };
const place = { project: "p", location: "global", token: "t" };

const entries: readonly Entry[] = [
  {
    name: "openai",
    format: "openai-responses",
    model: "gpt-5.1",
    make: (fetch, settings) => openai("gpt-5.1", { apiKey, fetch, settings }),
  },
  {
    name: "openaiChat",
    format: "openai-chat",
    model: "gpt-4.1",
    make: (fetch, settings) => openaiChat("gpt-4.1", { apiKey, fetch, settings }),
  },
  {
    name: "openaiCompatible",
    format: "openai-compatible",
    model: "llama3",
    make: (fetch, settings) =>
      openaiCompatible("llama3", { baseUrl: "http://localhost:1/v1", fetch, settings }),
  },
  {
    name: "anthropic",
    format: "anthropic-messages",
    model: "claude-sonnet-4-5",
    make: (fetch, settings) => anthropic("claude-sonnet-4-5", { apiKey, fetch, settings }),
  },
  {
    name: "gemini",
    format: "gemini",
    model: "gemini-2.5-flash",
    make: (fetch, settings) => gemini("gemini-2.5-flash", { apiKey, fetch, settings }),
  },
  {
    name: "azure",
    format: "openai-responses",
    model: "gpt-5.1",
    make: (fetch, settings) => azure("gpt-5.1", { resource: "r", apiKey, fetch, settings }),
  },
  {
    name: "bedrock",
    format: "bedrock-converse",
    model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    make: (fetch, settings) =>
      bedrock("us.anthropic.claude-sonnet-4-5-20250929-v1:0", { ...region, fetch, settings }),
  },
  {
    name: "bedrockAnthropic",
    format: "anthropic-messages",
    model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    make: (fetch, settings) =>
      bedrockAnthropic("us.anthropic.claude-sonnet-4-5-20250929-v1:0", {
        ...region,
        fetch,
        settings,
      }),
  },
  {
    name: "vertex",
    format: "gemini",
    model: "gemini-2.5-flash",
    make: (fetch, settings) => vertex("gemini-2.5-flash", { ...place, fetch, settings }),
  },
  {
    name: "vertexAnthropic",
    format: "anthropic-messages",
    model: "claude-sonnet-4-5",
    make: (fetch, settings) => vertexAnthropic("claude-sonnet-4-5", { ...place, fetch, settings }),
  },
  ...Object.entries(servers).map(([name, make]) => ({
    name,
    format: "openai-compatible",
    model: "any",
    make: (fetch: typeof globalThis.fetch, settings: RequestSettings): Model =>
      make("any", { apiKey, fetch, settings }),
  })),
];

test("there is an entry for each named server", () => {
  expect(Object.keys(servers).toSorted()).toStrictEqual(Object.keys(compatibleServers).toSorted());
});

const request: ModelRequest = {
  transcript: [
    {
      id: itemId("i1"),
      author: "user",
      parts: [{ kind: "text", id: partId("p1"), text: "Hello." }],
      stop: "end",
    },
  ],
  instructions: "Be kind.",
  tools: [{ name: "fs.read", input: { type: "object", properties: {} } }],
  retry: false,
};

/** The body that a model sends, or why it sends none. */
async function sentWith(
  { make }: Entry,
  settings: RequestSettings,
): Promise<{
  readonly body: string | undefined;
  readonly message: string;
}> {
  const bodies: string[] = [];
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    bodies.push(Buffer.from(init?.body as Uint8Array).toString());
    return new Response("{}", { status: 400 });
  };
  const { cause } = await make(fetch, settings).stream(request).result;
  return { body: bodies[0], message: cause?.message ?? "" };
}

test.each(entries)("$name: none vanishes", async (entry) => {
  const plain = await sentWith(entry, {});
  expect(plain.body).toContain("Hello.");
  const faults: string[] = [];
  for (const setting of settingNames) {
    for (const value of settingValues[setting] satisfies readonly Json[]) {
      const { body, message } = await sentWith(entry, { [setting]: value });
      const place = `${setting} ${JSON.stringify(value)}`;
      if (body === undefined) {
        const isTold = /\b(?:use|leave|ask|offer|set|make|pass|write)\b/.test(message);
        if (!isTold) faults.push(`${place} is refused without what to do: ${message}`);
      } else if (body === plain.body) {
        if (!doesByItself(entry.format, entry.model, { setting, value })) {
          faults.push(`${place} vanished`);
        }
      } else {
        const lost = marksIn(value).filter((mark) => !body.includes(mark));
        faults.push(...lost.map((mark) => `${place} lost ${mark}`));
      }
    }
  }

  expect(faults).toStrictEqual([]);
});
