/** Calls that came without the name of a tool, for each protocol over real sockets. */
import type { Model } from "@millrace/core";
import type { ModelNotice } from "@millrace/core/ports";
import { expect, test } from "vitest";
import { anthropic } from "./anthropic.ts";
import { gemini } from "./gemini.ts";
import { openai, openaiCompatible } from "./openai.ts";
import { startVendorServer } from "./serve/vendor-server.ts";

interface Vendor {
  readonly name: string;
  readonly model: (baseUrl: string) => Model;
  /** A text, a call of `f` and one without a name, in the vendor's events. */
  readonly events: readonly object[];
}

const apiKey = "k";

const chatDelta = (delta: object, finish: string | null = null): object => ({
  id: "c1",
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish }],
});

const chatCall = (index: number, id: string, name: string): object =>
  chatDelta({
    tool_calls: [{ index, id, type: "function", function: { name, arguments: '{"a":1}' } }],
  });

const responsesItem = (type: string, output_index: number, item: object): object => ({
  type: `response.output_item.${type}`,
  output_index,
  item: { type: "function_call", arguments: '{"a":1}', status: "completed", ...item },
});

const block = (index: number, content_block: object, delta: object): readonly object[] => [
  { type: "content_block_start", index, content_block },
  { type: "content_block_delta", index, delta },
  { type: "content_block_stop", index },
];

const json = { type: "input_json_delta", partial_json: '{"a":1}' };

const vendors: readonly Vendor[] = [
  {
    name: "openai-chat",
    model: (baseUrl) => openaiCompatible("m", { baseUrl, apiKey }),
    events: [
      chatDelta({ content: "Hi" }),
      chatCall(0, "call_1", ""),
      chatCall(1, "call_2", "f"),
      chatDelta({}, "tool_calls"),
    ],
  },
  {
    name: "openai-responses",
    model: (baseUrl) => openai("m", { baseUrl, apiKey }),
    events: [
      { type: "response.created", response: { id: "r1", status: "in_progress" } },
      { type: "response.output_text.delta", output_index: 0, content_index: 0, delta: "Hi" },
      responsesItem("added", 1, { id: "fc_1", call_id: "call_1" }),
      responsesItem("done", 1, { id: "fc_1", call_id: "call_1" }),
      responsesItem("added", 2, { id: "fc_2", call_id: "call_2", name: "f" }),
      responsesItem("done", 2, { id: "fc_2", call_id: "call_2", name: "f" }),
      { type: "response.completed", response: { id: "r1", status: "completed", output: [] } },
    ],
  },
  {
    name: "anthropic-messages",
    model: (baseUrl) => anthropic("m", { baseUrl, apiKey }),
    events: [
      { type: "message_start", message: { id: "msg_1", content: [] } },
      ...block(0, { type: "text", text: "" }, { type: "text_delta", text: "Hi" }),
      ...block(1, { type: "tool_use", id: "toolu_1", input: {} }, json),
      ...block(2, { type: "tool_use", id: "call_2", name: "f", input: {} }, json),
      { type: "message_delta", delta: { stop_reason: "tool_use" } },
      { type: "message_stop" },
    ],
  },
  {
    name: "gemini",
    model: (baseUrl) => gemini("m", { baseUrl, apiKey }),
    events: [
      { text: "Hi" },
      { functionCall: { args: { a: 1 } } },
      { functionCall: { id: "call_2", name: "f", args: { a: 1 } } },
    ].map((part, at) => ({
      candidates: [
        {
          content: { role: "model", parts: [part] },
          ...(at === 2 ? { finishReason: "STOP" } : {}),
        },
      ],
    })),
  },
];

test.each(vendors)(
  "a call without a name is left out with a notice, and the rest of the reply stands: $name",
  async ({ model, events }) => {
    const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
    await using server = await startVendorServer({ replies: [{ body }] });
    const notices: ModelNotice[] = [];
    const stream = model(server.url).stream({
      transcript: [],
      tools: [{ name: "f", input: { type: "object" } }],
      notify: (notice) => void notices.push(notice),
    });
    const reply = await stream.result;
    expect(reply.stop).toBe("tools");
    expect(reply.parts).toMatchObject([
      { kind: "text", text: "Hi" },
      { kind: "tool_call", callId: "call_2", tool: "f", input: { a: 1 } },
    ]);
    expect(reply.evidence).toMatchObject({ namelessCalls: 1 });
    expect(notices).toMatchObject([
      { type: "remark", code: "nameless_call", evidence: { calls: 1 } },
    ]);
  },
);
