/** A reply that comes whole, as JSON, though a stream was asked for. */
import type { Model } from "@millrace/core";
import { expect, test } from "vitest";
import { openai, openaiCompatible } from "./openai.ts";
import { startVendorServer } from "./serve/vendor-server.ts";

const headers = { "content-type": "application/json; charset=utf-8" };
const settings = { apiKey: "k", retry: false } as const;
const long = "a long answer ".repeat(4_000);

const call = { id: "c1", type: "function", function: { name: "look", arguments: '{"at":1}' } };
const completion = (message: object, finish: string): object => ({
  id: "x",
  object: "chat.completion",
  choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
});
const response = (output: readonly object[]): object => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  output,
  usage: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
});
const content = [{ type: "output_text", text: long, annotations: [] }];
const message = { type: "message", id: "m", role: "assistant", status: "completed", content };
const item = {
  type: "function_call",
  id: "fc",
  call_id: "c1",
  name: "look",
  arguments: '{"at":1}',
};

const chat = (baseUrl: string): Model => openaiCompatible("m", { baseUrl, ...settings });
const responses = (baseUrl: string): Model => openai("gpt-5", { baseUrl, ...settings });

async function replyTo(make: (baseUrl: string) => Model, body: string, end?: "reset") {
  await using server = await startVendorServer({
    replies: [{ body, headers, ...(end === undefined ? {} : { end }) }],
  });
  return await make(server.url).stream({ transcript: [], tools: [look] }).result;
}

const look = { name: "look", input: { type: "object" } };

test.each([
  ["chat completions", chat, completion({ content: long }, "stop")],
  ["Responses", responses, response([message])],
])("its text is read whole, however long it is: %s", async (_, make, body) => {
  const reply = await replyTo(make, JSON.stringify(body));

  expect(reply).toMatchObject({ stop: "end", parts: [{ kind: "text", text: long }] });
  expect(reply.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
});

test.each([
  ["chat completions", chat, completion({ content: null, tool_calls: [call] }, "tool_calls")],
  ["Responses", responses, response([item])],
])("its calls can run: %s", async (_, make, body) => {
  const reply = await replyTo(make, JSON.stringify(body));

  expect(reply.stop).toBe("tools");
  expect(reply.parts).toMatchObject([{ kind: "tool_call", tool: "look", input: { at: 1 } }]);
});

test.each([
  ["chat completions", chat, completion({ content: long }, "stop")],
  ["Responses", responses, response([message])],
])("a piece of it is no reply, wherever it is cut: %s", async (_, make, whole) => {
  const body = JSON.stringify(whole);
  for (const at of [1, 40, 20_000, body.length - 1]) {
    const ended = await replyTo(make, body.slice(0, at));
    const reset = await replyTo(make, body.slice(0, at), "reset");

    expect([ended.parts, reset.parts]).toEqual([[], []]);
    expect([ended.stop, reset.stop]).not.toContain("end");
  }
});

test("an error and another object are failures as before", async () => {
  const refused = await replyTo(
    chat,
    '{"error":{"message":"no credit","code":"insufficient_quota"}}',
  );
  const other = await replyTo(chat, '{"choices":[]}');

  expect(refused).toMatchObject({ stop: "failed", cause: { code: "quota_exceeded" } });
  expect(other).toMatchObject({ stop: "failed", cause: { code: "not_a_stream" } });
});
