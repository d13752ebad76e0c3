import { defineAgent } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { scriptedModel } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";
import OpenAI from "openai";
import { Served } from "./served.ts";
import { pay, place, weather } from "./tools.ts";

/** The library, unmodified, with its requests answered by a function. */
export function openaiWith(
  answer: (request: Request) => Response | Promise<Response>,
  user = "ann",
): OpenAI {
  return new OpenAI({
    apiKey: user,
    baseURL: "http://localhost/openai/v1",
    maxRetries: 0,
    fetch: async (url, init) => answer(new Request(url, init)),
  });
}

/** A tool of the server, one that asks and one of the client. */
export const tools = [weather, pay, place];

/** The agent of these tests. */
export function agentOf(...replies: readonly ScriptedReply[]): Agent {
  return defineAgent({ model: scriptedModel(replies), tools });
}

/** A server in memory, with a tool of its own, one that asks and one of the client. */
export function served(...replies: readonly ScriptedReply[]): Served {
  return new Served(agentOf(...replies));
}

/** The library, unmodified, against a server in memory. */
export function clientOf({ millrace }: Served, user = "ann"): OpenAI {
  return openaiWith((request) => millrace.fetch(request), user);
}

/** An answer of server-sent events. */
export function eventAnswer(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

/** A value as it would be stored: without fields that have no value. */
export function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
