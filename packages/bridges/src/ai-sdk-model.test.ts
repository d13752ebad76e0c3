import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { emptyDraft, fold } from "@millrace/core";
import { isJsonObject } from "@millrace/core/json";
import { itemId, partId } from "@millrace/core/writing";
import type { Delta, Item, Model } from "@millrace/core";
import type { ModelRequest, Reply } from "@millrace/core/ports";
import { createOpenAICompatible as createOpenAICompatibleV3 } from "ai-sdk-openai-compatible-v3";
import { describe, expect, test } from "vitest";
import { bridgeServer, chatAnswer, messagesAnswer } from "./testing/bridge-server.ts";
import type { Answer } from "./testing/bridge-server.ts";
import { sketch } from "./testing/updates.ts";
import { aiSdk } from "./ai-sdk.ts";

const said: Item = {
  id: itemId("u1"),
  author: "user",
  stop: "end",
  parts: [{ kind: "text", id: partId("p1"), text: "how is the weather?" }],
};

const weather = {
  name: "weather",
  description: "tells the weather",
  input: { type: "object", properties: { city: { type: "string" } } },
};

async function ask(
  model: Model,
  request: Partial<ModelRequest> = {},
): Promise<{ reply: Reply; deltas: readonly Delta[] }> {
  const stream = model.stream({ transcript: [said], tools: [weather], ...request });
  const deltas: Delta[] = [];
  let draft = emptyDraft();
  for await (const delta of stream) {
    deltas.push(delta);
    draft = fold(draft, delta);
    expect(draft.fault).toBeUndefined();
  }
  return { reply: await stream.result, deltas };
}

const compatible = {
  v3: (baseURL: string): Model =>
    aiSdk(createOpenAICompatibleV3({ name: "tiny", baseURL, includeUsage: true })("tiny-1")),
  v4: (baseURL: string): Model =>
    aiSdk(createOpenAICompatible({ name: "tiny", baseURL, includeUsage: true })("tiny-1")),
};

const call = (index: number, text: string, id?: string, name?: string): object => ({
  tool_calls: [
    {
      index,
      ...(id === undefined ? {} : { id, type: "function" }),
      function: { ...(name === undefined ? {} : { name }), arguments: text },
    },
  ],
});

const busy: Answer = chatAnswer(
  [
    { role: "assistant", content: "" },
    { reasoning_content: "hmm" },
    { reasoning_content: ", let me see" },
    { content: "I look \ud83c" },
    { content: "\udf26 up" },
    call(0, "", "call_a", "weather"),
    call(0, '{"city":'),
    call(1, '{"city":', "call_b", "weather"),
    call(0, '"Graz"}'),
    call(1, '"Linz"}'),
  ],
  "tool_calls",
  {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 8 },
  },
);

describe.each(["v3", "v4"] as const)("a chat model of specification %s over HTTP", (version) => {
  test("streams reasoning, text and two interleaved calls to the letter", async () => {
    await using server = await bridgeServer([busy]);

    const { reply, deltas } = await ask(compatible[version](server.url));

    expect(sketch(reply.parts)).toEqual([
      "reasoning: hmm, let me see",
      "text: I look \u{1f326} up",
      'call call_a weather {"city":"Graz"}',
      'call call_b weather {"city":"Linz"}',
    ]);
    expect(reply.stop).toBe("tools");
    expect(reply.evidence).toMatchObject({ finishReason: "tool-calls", raw: "tool_calls" });
    expect(reply.usage).toEqual({
      inputTokens: 100,
      outputTokens: 20,
      cachedTokens: 64,
      reasoningTokens: 8,
    });
    expect(reply.model).toBe("ai-sdk/tiny.chat/tiny-1");
    const appends = deltas.filter(({ op }) => op === "append_text");
    expect(appends.length).toBeGreaterThanOrEqual(7);
  });

  test("is sent the whole conversation, with its earlier replies and the answers of the tools", async () => {
    await using server = await bridgeServer([busy, chatAnswer([{ content: "Rain." }], "stop")]);
    const model = compatible[version](server.url);
    const first = await ask(model, { instructions: "be brief" });
    const transcript: Item[] = [
      said,
      { id: itemId("m1"), author: "model", ...first.reply },
      {
        id: itemId("t1"),
        author: "tool",
        stop: "end",
        parts: first.reply.parts.flatMap((part) =>
          part.kind === "tool_call"
            ? [
                {
                  kind: "tool_result" as const,
                  id: partId(`r${part.callId}`),
                  callId: part.callId,
                  tool: part.tool,
                  status: "ok" as const,
                  text: "",
                  output: { sky: "rain" },
                },
              ]
            : [],
        ),
      },
    ];

    const { reply } = await ask(model, { transcript, instructions: "be brief" });

    expect(sketch(reply.parts)).toEqual(["text: Rain."]);
    expect(server.requests[1]?.["messages"]).toEqual([
      { role: "system", content: "be brief" },
      { role: "user", content: "how is the weather?" },
      {
        role: "assistant",
        content: "I look \u{1f326} up",
        reasoning_content: "hmm, let me see",
        tool_calls: [
          {
            id: "call_a",
            type: "function",
            function: { name: "weather", arguments: '{"city":"Graz"}' },
          },
          {
            id: "call_b",
            type: "function",
            function: { name: "weather", arguments: '{"city":"Linz"}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_a", content: '{"sky":"rain"}' },
      { role: "tool", tool_call_id: "call_b", content: '{"sky":"rain"}' },
    ]);
    expect(server.requests[1]?.["tools"]).toMatchObject([
      { type: "function", function: { name: "weather", description: "tells the weather" } },
    ]);
  });

  test("shows a picture to the model by its bytes and by its address", async () => {
    await using server = await bridgeServer([chatAnswer([{ content: "A cat." }], "stop")]);
    const pictured: Item = {
      ...said,
      parts: [
        { kind: "media", id: partId("p1"), mediaType: "image/png", bytes: new Uint8Array([1, 2]) },
        { kind: "media", id: partId("p2"), mediaType: "image/png", url: "https://a.test/b.png" },
      ],
    };

    const { reply } = await ask(compatible[version](server.url), { transcript: [pictured] });

    expect(reply.stop).toBe("end");
    expect(server.requests[0]?.["messages"]).toMatchObject([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:image/png;base64,AQI=" } },
          { type: "image_url", image_url: { url: "https://a.test/b.png" } },
        ],
      },
    ]);
  });

  test("ends as aborted with what had come, and the socket is closed", async () => {
    await using server = await bridgeServer([
      { ...chatAnswer([{ content: "Once upon" }], undefined), last: "silence" },
    ]);
    const stop = new AbortController();
    const stream = compatible[version](server.url).stream({
      transcript: [said],
      signal: stop.signal,
    });
    for await (const delta of stream) if (delta.op === "append_text") stop.abort();

    const reply = await stream.result;

    expect(reply.stop).toBe("aborted");
    expect(sketch(reply.parts)).toEqual(["text: Once upon"]);
    await server.left;
  });

  test("is left when it is stopped before it answers", async () => {
    await using server = await bridgeServer([{ body: [], last: "mute" }]);
    const stop = new AbortController();
    const stream = compatible[version](server.url).stream({
      transcript: [said],
      signal: stop.signal,
    });
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stop.abort();

    expect(await stream.result).toMatchObject({ stop: "aborted", parts: [] });
    await server.left;
  });

  test("ends the request when the consumer leaves", async () => {
    await using server = await bridgeServer([
      { ...chatAnswer([{ content: "Once upon" }], undefined), last: "silence" },
    ]);
    const stream = compatible[version](server.url).stream({ transcript: [said] });
    for await (const delta of stream) if (delta.op === "append_text") break;

    expect((await stream.result).stop).toBe("aborted");
    await server.left;
  });

  test.each([{}, { retry: false as const }])("sends one request, with %j", async (request) => {
    await using server = await bridgeServer([{ status: 503, body: ["busy"] }]);

    const { reply } = await ask(compatible[version](server.url), request);

    expect(reply).toMatchObject({ stop: "failed", cause: { code: "overloaded", retryable: true } });
    expect(server.requests.length).toBe(1);
  });

  test("has the time after which to ask again when the vendor sent one", async () => {
    const body = ['{"error":{"message":"slow down","type":"rate_limit_error"}}'];
    const headers = { "content-type": "application/json", "retry-after": "7" };
    await using server = await bridgeServer([{ status: 429, headers, body }]);

    const { reply } = await ask(compatible[version](server.url));

    expect(reply).toMatchObject({
      stop: "failed",
      parts: [],
      cause: {
        code: "rate_limited",
        retryable: true,
        evidence: { status: 429, retryAfterMs: 7_000 },
      },
    });
  });

  test.each([
    [401, '{"error":{"message":"bad key"}}', "unauthorized", false],
    [400, '{"error":{"message":"maximum context length is 10"}}', "context_overflow", false],
    [429, '{"error":{"message":"paid up?","code":"insufficient_quota"}}', "quota_exceeded", false],
    [500, "oops", "server_error", true],
  ])("status %i with %s is %s", async (status, body, code, retryable) => {
    await using server = await bridgeServer([{ status, body: [body] }]);

    const { reply } = await ask(compatible[version](server.url));

    expect(reply).toMatchObject({ stop: "failed", cause: { code, retryable } });
  });

  test("at a port without a server is a failure that may pass", async () => {
    const gone = await bridgeServer([]);
    await gone[Symbol.asyncDispose]();

    const { reply } = await ask(compatible[version](gone.url));

    expect(reply).toMatchObject({
      stop: "failed",
      cause: { code: "connection_refused", retryable: true },
    });
  });

  test("is truncated when the connection breaks, and keeps what had come", async () => {
    const answer = chatAnswer([{ content: "Half a sen" }], undefined);
    await using server = await bridgeServer([{ body: answer.body.slice(0, -1), last: "break" }]);

    const { reply } = await ask(compatible[version](server.url));

    expect(reply).toMatchObject({ stop: "truncated", cause: { retryable: true } });
    expect(sketch(reply.parts)).toEqual(["text: Half a sen"]);
  });

  test("is truncated when the bytes end and no reason was given", async () => {
    await using server = await bridgeServer([
      chatAnswer([{ content: "Half" }, call(0, '{"city":"G', "c1", "weather")], undefined),
    ]);

    const { reply } = await ask(compatible[version](server.url));

    expect(reply).toMatchObject({ stop: "truncated", cause: { code: "truncated" } });
    expect(sketch(reply.parts)).toEqual(["text: Half", 'call c1 weather {"city":"G !truncated']);
  });

  test("fails when the vendor reports an error after its first words", async () => {
    const answer = chatAnswer([{ content: "Half" }], undefined);
    const error = 'data: {"error":{"message":"we are overloaded","code":"server_error"}}\n\n';
    await using server = await bridgeServer([{ body: [answer.body[0] ?? "", error] }]);

    const { reply } = await ask(compatible[version](server.url));

    expect(reply).toMatchObject({
      stop: "failed",
      cause: { code: "server_error", retryable: true },
    });
    expect(sketch(reply.parts)).toEqual(["text: Half"]);
  });

  test("does not run a call whose arguments were cut off by the limit", async () => {
    await using server = await bridgeServer([
      chatAnswer([call(0, "", "c1", "weather"), call(0, "")], "length"),
    ]);

    const { reply } = await ask(compatible[version](server.url));

    expect(reply.stop).toBe("length");
    expect(sketch(reply.parts)).toEqual(["call c1 weather  !truncated"]);
  });

  test("gives a call another id when the one it has was used before", async () => {
    await using server = await bridgeServer([busy, busy]);
    const model = compatible[version](server.url);
    const first = await ask(model);
    const before: Item = { id: itemId("m1"), author: "model", ...first.reply };

    const { reply } = await ask(model, { transcript: [said, before] });

    const ids = reply.parts.flatMap((part) => (part.kind === "tool_call" ? [part.callId] : []));
    expect(ids).toEqual(["call_a_2", "call_b_2"]);
  });
});

describe("a model of Anthropic through the AI SDK", () => {
  const thought = messagesAnswer(
    [
      {
        start: { type: "thinking", thinking: "", signature: "" },
        deltas: [
          { type: "thinking_delta", thinking: "The city " },
          { type: "thinking_delta", thinking: "is Graz." },
          { type: "signature_delta", signature: "c2lnbmF0dXJl" },
        ],
      },
      {
        start: { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" },
        deltas: [],
      },
      {
        start: { type: "tool_use", id: "toolu_1", name: "weather", input: {} },
        deltas: [
          { type: "input_json_delta", partial_json: "" },
          { type: "input_json_delta", partial_json: '{"city": "Gr' },
          { type: "input_json_delta", partial_json: 'az"}' },
        ],
      },
    ],
    "tool_use",
  );
  const anthropic = (url: string): Model =>
    aiSdk(createAnthropic({ baseURL: url, apiKey: "none" })("claude-sonnet-4-5"));
  const thinking = {
    maxOutputTokens: 4_000,
    providerOptions: { anthropic: { thinking: { type: "enabled", budgetTokens: 1_024 } } },
  };

  test("gets its signatures back untouched with the answers to its calls", async () => {
    await using server = await bridgeServer([
      thought,
      messagesAnswer(
        [{ start: { type: "text", text: "" }, deltas: [{ type: "text_delta", text: "Rain." }] }],
        "end_turn",
      ),
    ]);
    const model = anthropic(server.url);
    const first = await ask(model, { settings: thinking });
    const call = first.reply.parts.find((part) => part.kind === "tool_call");
    const answered: Item = {
      id: itemId("t1"),
      author: "tool",
      stop: "end",
      parts:
        call === undefined
          ? []
          : [{ ...call, kind: "tool_result", id: partId("r1"), status: "failed", text: "no rain" }],
    };

    const second = await ask(model, {
      settings: thinking,
      transcript: [said, { id: itemId("m1"), author: "model", ...first.reply }, answered],
    });

    expect(sketch(first.reply.parts)).toEqual([
      "reasoning: The city is Graz.",
      "reasoning: ",
      'call toolu_1 weather {"city": "Graz"}',
    ]);
    expect(first.reply.parts[0]).toMatchObject({
      opaque: { anthropic: { signature: "c2lnbmF0dXJl" } },
    });
    expect(first.reply.usage).toEqual({
      inputTokens: 105,
      outputTokens: 7,
      cachedTokens: 90,
      cacheWriteTokens: 5,
    });
    expect(second.reply).toMatchObject({ stop: "end", evidence: { raw: "end_turn" } });
    const messages = server.requests[1]?.["messages"] as readonly Record<string, unknown>[];
    expect(messages[1]?.["content"]).toMatchObject([
      { type: "thinking", thinking: "The city is Graz.", signature: "c2lnbmF0dXJl" },
      { type: "redacted_thinking", data: "cmVkYWN0ZWQ=" },
      { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Graz" } },
    ]);
    expect(messages[2]?.["content"]).toMatchObject([
      { type: "tool_result", tool_use_id: "toolu_1", content: "no rain", is_error: true },
    ]);
    expect(server.requests[0]).toMatchObject({ thinking: { type: "enabled" }, stream: true });
  });

  test("sends no thoughts of one model to another", async () => {
    await using server = await bridgeServer([thought]);
    const { reply } = await ask(anthropic(server.url), { settings: thinking });
    const other = aiSdk(
      createAnthropic({ baseURL: server.url, apiKey: "none" })("claude-opus-4-5"),
    );

    await ask(other, {
      transcript: [said, { id: itemId("m1"), author: "model", ...reply }],
    });

    expect(JSON.stringify(server.requests[1])).not.toContain("c2lnbmF0dXJl");
  });

  test.each([
    ["pause_turn", "paused", undefined],
    ["max_tokens", "length", undefined],
    ["refusal", "filtered", undefined],
    ["brand_new_reason", "failed", "unknown_stop"],
    [undefined, "truncated", "truncated"],
  ])("that stops with %s ends as %s", async (reason, stop, code) => {
    const text = {
      start: { type: "text", text: "" },
      deltas: [{ type: "text_delta", text: "So" }],
    };
    await using server = await bridgeServer([messagesAnswer([text], reason)]);

    const { reply } = await ask(anthropic(server.url));

    expect(reply.stop).toBe(stop);
    expect(reply.cause?.code).toBe(code);
    expect(sketch(reply.parts)).toEqual(["text: So"]);
    if (code === "unknown_stop") {
      expect(isJsonObject(reply.cause?.evidence) && reply.cause.evidence["raw"]).toBe(reason);
    }
  });

  test("that is overloaded in mid-stream fails, and may be asked again", async () => {
    const error =
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    const text = messagesAnswer(
      [{ start: { type: "text", text: "" }, deltas: [{ type: "text_delta", text: "So" }] }],
      undefined,
    );
    await using server = await bridgeServer([{ body: [...text.body, error] }]);

    const { reply } = await ask(anthropic(server.url));

    expect(reply).toMatchObject({ stop: "failed", cause: { code: "overloaded", retryable: true } });
  });
});
