/** A reply that the vendor cuts at a limit of tokens ends as `length`, and the caller is notified. */
import type { Model } from "@millrace/core";
import { expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiChat } from "./openai.ts";
import type { ProviderOptions } from "./provider.ts";
import { startVendorServer } from "./serve/vendor-server.ts";
import { ask } from "./testing/toy-model.ts";

type Options = ProviderOptions & { readonly baseUrl: string; readonly apiKey: string };

const message = { id: "m", role: "assistant", content: [], model: "x", usage: { input_tokens: 1 } };
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const item = { id: "i", type: "message", role: "assistant", status: "incomplete", content: [] };

const cut: readonly {
  readonly make: (options: Options) => Model;
  readonly events: readonly object[];
  readonly limit: string;
}[] = [
  {
    make: (options) => anthropic("claude-sonnet-5", options),
    events: [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hel" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ],
    limit: "max_tokens 128000, which settings.maxTokens sets",
  },
  {
    make: (options) =>
      gemini("gemini-3-pro-preview", {
        ...options,
        settings: { generationConfig: { maxOutputTokens: 7 } },
      }),
    events: [
      { candidates: [{ content: { parts: [{ text: "Hel" }] }, finishReason: "MAX_TOKENS" }] },
    ],
    limit: "maxOutputTokens 7, which settings.maxTokens sets",
  },
  {
    make: (options) => openai("gpt-5", options),
    events: [
      {
        type: "response.created",
        sequence_number: 0,
        response: { id: "r", status: "in_progress" },
      },
      {
        type: "response.incomplete",
        sequence_number: 1,
        response: {
          id: "r",
          status: "incomplete",
          incomplete_details: { reason: "max_output_tokens" },
          output: [{ ...item, content: [{ type: "output_text", text: "Hel", annotations: [] }] }],
          usage,
        },
      },
    ],
    limit: "no limit of its own",
  },
];

test.each(cut)(
  "the notice has the limit of the request: $limit",
  async ({ make, events, limit }) => {
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    await using server = await startVendorServer({ replies: [{ body }] });

    const { reply, notices } = await ask(make({ baseUrl: server.url, apiKey: "k" }));

    expect(reply).toMatchObject({ stop: "length", parts: [{ text: "Hel" }] });
    expect(notices).toEqual([
      {
        type: "remark",
        code: "cut_at_limit",
        message: `the vendor cut the reply at a limit of tokens; the request has ${limit}`,
      },
    ]);
  },
);

test.each([
  ["openai", openai, ["max_output_tokens"]],
  ["openaiChat", openaiChat, ["max_tokens", "max_completion_tokens"]],
  ["gemini", gemini, ["generationConfig"]],
])("%s sends no limit of its own, so the model's applies", async (_, make, names) => {
  await using server = await startVendorServer({ replies: [{ status: 400, body: "" }] });

  await ask(make("gpt-5", { baseUrl: server.url, apiKey: "k" }));

  const body = (await server.received(1)).body;
  for (const name of names) expect(JSON.parse(body)).not.toHaveProperty(name);
});
