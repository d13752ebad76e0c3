import { describe, expect, it } from "vitest";
import type { Model } from "@millrace/core";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat, openaiCompatible } from "./openai.ts";

interface Options {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fetch: typeof globalThis.fetch;
  readonly retry: false;
  readonly allowPlain?: boolean | undefined;
}

const providers: Readonly<Record<string, (options: Options) => Model>> = {
  anthropic: (options) => anthropic("m", options),
  gemini: (options) => gemini("m", options),
  openai: (options) => openai("m", options),
  openaiChat: (options) => openaiChat("m", options),
  openaiCompatible: (options) => openaiCompatible("m", options),
};

/** The cause of a request's failure, and the hosts that requests were sent to. */
async function ask(
  create: (options: Options) => Model,
  baseUrl: string,
  allowPlain?: boolean,
): Promise<{ readonly cause: unknown; readonly hosts: readonly string[] }> {
  const hosts: string[] = [];
  const fetch: typeof globalThis.fetch = async (input) => {
    hosts.push(new URL(input instanceof Request ? input.url : input).hostname);
    return new Response("no", { status: 400 });
  };
  const model = create({ baseUrl, apiKey: "k", fetch, retry: false, allowPlain });
  const { cause } = await model.stream({ transcript: [] }).result;
  return { cause, hosts };
}

describe.each(Object.entries(providers))("a model of %s", (_, create) => {
  it.each(["http://models.example.com/v1", "http://10.0.0.5:8000/v1", "http://[fe80::1]/v1"])(
    "sends nothing to %s, which is not encrypted, unless that is allowed",
    async (url) => {
      const host = new URL(url).hostname;
      for (const allowPlain of [undefined, false]) {
        const { cause, hosts } = await ask(create, url, allowPlain);

        expect(hosts).toEqual([]);
        expect(cause).toMatchObject({
          code: "bad_request",
          message: expect.stringMatching(
            /is not encrypted.*use https:\/\/.*allowPlain: true/,
          ) as unknown,
        });
      }
      expect((await ask(create, url, true)).hosts).toEqual([host]);
    },
  );

  it.each(["https://models.example.com/v1", "http://localhost:11434/v1", "http://[::1]:1/v1"])(
    "sends to %s",
    async (url) => {
      expect((await ask(create, url)).hosts).toEqual([new URL(url).hostname]);
    },
  );
});
