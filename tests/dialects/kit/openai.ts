import OpenAI from "openai";

/** The library, unmodified, with its requests answered by a function. */
export function openaiWith(answer: (request: Request) => Response | Promise<Response>): OpenAI {
  return new OpenAI({
    apiKey: "ann",
    baseURL: "http://localhost/openai/v1",
    maxRetries: 0,
    fetch: async (url, init) => answer(new Request(url, init)),
  });
}

/** An answer of server-sent events. */
export function eventAnswer(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/event-stream" } });
}

/** A value as it would be stored: without fields that have no value. */
export function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown;
}
