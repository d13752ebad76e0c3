import type { Model } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat } from "./openai.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { statusFailure } from "./transport/vendor-error.ts";

interface Overflow {
  readonly make: (options: { baseUrl: string; apiKey: string }) => Model;
  /** Error bodies, each with its status. */
  readonly bodies: readonly (readonly [status: number, body: string])[];
  /** Error events in a stream that began normally. */
  readonly events: readonly string[];
}

const tooLong = "prompt is too long: 208310 tokens > 200000 maximum";
const noRoom =
  "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease input length or `max_tokens` and try again";
const tooMany =
  "This model's maximum context length is 128000 tokens. However, your messages resulted in 130001 tokens. Please reduce the length of the messages.";
const window =
  "Your input exceeds the context window of this model. Please adjust your input and try again.";
const count =
  "The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).";

const vendors: Readonly<Record<string, Overflow>> = {
  "anthropic-messages": {
    make: (options) => anthropic("claude-sonnet-5", options),
    bodies: [
      [
        400,
        jsonText({ type: "error", error: { type: "invalid_request_error", message: tooLong } }),
      ],
      [400, jsonText({ type: "error", error: { type: "invalid_request_error", message: noRoom } })],
      [413, jsonText({ type: "error", error: { type: "request_too_large", message: tooLong } })],
    ],
    events: [
      `event: error\ndata: ${jsonText({ type: "error", error: { type: "invalid_request_error", message: tooLong } })}\n\n`,
    ],
  },
  "openai-chat": {
    make: (options) => openaiChat("gpt-5", options),
    bodies: [
      [
        400,
        jsonText({
          error: {
            message: tooMany,
            type: "invalid_request_error",
            param: "messages",
            code: "context_length_exceeded",
          },
        }),
      ],
      // Servers that imitate the vendor have its message, or a name of their own, but not its code.
      [400, jsonText({ object: "error", message: tooMany, type: "BadRequestError", code: 400 })],
      [
        500,
        jsonText({
          error: {
            code: 500,
            message: "the request exceeds the available memory",
            type: "exceed_context_size_error",
            n_prompt_tokens: 1407,
            n_ctx: 256,
          },
        }),
      ],
      [
        400,
        jsonText({
          error: {
            message: "This model's maximum prompt length is 131072 but the request contains 537812",
          },
        }),
      ],
      [400, jsonText({ error: { code: "1261", message: "Prompt exceeds max length" } })],
      [422, "Input validation error: `inputs` must have less than 1024 tokens. Given: 1500"],
    ],
    events: [`data: ${jsonText({ error: { message: tooMany, code: 400 } })}\n\n`],
  },
  "openai-responses": {
    make: (options) => openai("gpt-5", options),
    bodies: [
      [
        400,
        jsonText({
          error: {
            message: window,
            type: "invalid_request_error",
            param: "input",
            code: "context_length_exceeded",
          },
        }),
      ],
      [400, jsonText({ error: { message: window, type: "invalid_request_error", code: null } })],
    ],
    events: [
      event({ type: "error", code: "context_length_exceeded", message: window, param: "input" }),
      event({
        type: "response.failed",
        response: { id: "r", status: "failed", error: { code: "invalid_prompt", message: window } },
      }),
    ],
  },
  gemini: {
    make: (options) => gemini("gemini-3-pro", options),
    bodies: [
      [400, jsonText({ error: { code: 400, message: count, status: "INVALID_ARGUMENT" } })],
      [400, jsonText([{ error: { code: 400, message: count, status: "INVALID_ARGUMENT" } }])],
      [
        400,
        jsonText({
          error: {
            code: 400,
            message:
              "Unable to submit request because the input token count is 2000000 but the model only supports up to 1048576.",
            status: "INVALID_ARGUMENT",
          },
        }),
      ],
    ],
    events: [
      `data: ${jsonText({ error: { code: 400, message: count, status: "INVALID_ARGUMENT" } })}\n\n`,
    ],
  },
};

function jsonText(value: object): string {
  return JSON.stringify(value);
}

function event(data: { readonly type: string; readonly [key: string]: unknown }): string {
  return `event: ${data.type}\ndata: ${jsonText(data)}\n\n`;
}

describe.each(Object.entries(vendors))("%s", (_, { make, bodies, events }) => {
  test.each(bodies)(
    "K21: a transcript that is too long is a context overflow, asked for once: %i %s",
    async (status, body) => {
      const headers = { "content-type": "application/json" };
      await using server = await startVendorServer({ replies: [{ status, headers, body }] });

      const reply = await make({ baseUrl: server.url, apiKey: "k" }).stream({ transcript: [] })
        .result;

      expect(reply).toMatchObject({
        stop: "failed",
        cause: { code: "context_overflow", retryable: false },
      });
      expect(server.requests.length).toBe(1);
    },
  );

  test.each(events)("K21: so is one that the vendor finds out in the stream: %s", async (body) => {
    await using server = await startVendorServer({ replies: [{ body }] });

    const reply = await make({ baseUrl: server.url, apiKey: "k" }).stream({ transcript: [] })
      .result;

    expect(reply).toMatchObject({
      stop: "failed",
      cause: { code: "context_overflow", retryable: false },
    });
    expect(server.requests.length).toBe(1);
  });
});

describe("other limits", () => {
  test.each([
    [429, "Rate limit reached: too many tokens per minute, context window 1m", "rate_limited"],
    [400, "max_tokens: 100000 > 64000, which is the maximum allowed", "bad_request"],
    [400, "Invalid 'tools[0].function.name': string exceeds maximum length of 64", "bad_request"],
    [413, "Request exceeds the maximum size", "request_too_large"],
    [401, "your key has no access to this context window", "unauthorized"],
  ])("status %i with %s is %s", (status, message, code) => {
    expect(statusFailure(status, jsonText({ error: { message } }), {}).code).toBe(code);
  });
});
