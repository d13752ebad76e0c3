import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { checkTranscript, itemId, partId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import { isStepCount, streamText, tool } from "ai";
import type { LanguageModel, StreamTextResult, ToolSet } from "ai";
import { convertArrayToReadableStream, MockLanguageModelV4 } from "ai/test";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { bridgeServer, chatAnswer } from "./testing/bridge-server.ts";
import { chunksOf, sketch, written } from "./testing/updates.ts";
import type { Written } from "./testing/updates.ts";
import { fromAiSdk, toAiSdk } from "./ai-sdk.ts";

const said: Item = {
  id: itemId("u1"),
  author: "user",
  stop: "end",
  parts: [{ kind: "text", id: partId("p1"), text: "how is the weather?" }],
};

const tools = {
  weather: tool({
    description: "tells the weather",
    inputSchema: z.object({ city: z.string(), unit: z.string().default("C") }),
    execute: async ({ city, unit }) => ({ city, degrees: 21, unit }),
  }),
  broken: tool({
    inputSchema: z.object({}),
    execute: async (): Promise<string> => {
      throw new Error("the wire is cut");
    },
  }),
};

const piece = (index: number, text: string, id?: string, name?: string): object => ({
  tool_calls: [
    {
      index,
      ...(id === undefined ? {} : { id, type: "function" }),
      function: { ...(name === undefined ? {} : { name }), arguments: text },
    },
  ],
});

const usage = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
};

const calling = chatAnswer(
  [
    { reasoning_content: "two things" },
    { content: "Let me " },
    { content: "look \ud83d" },
    { content: "\ude80" },
    piece(0, '{"city":', "call_a", "weather"),
    piece(0, '"Graz"}'),
    piece(1, "{}", "call_b", "broken"),
  ],
  "tool_calls",
  usage,
);
const answering = chatAnswer([{ content: "It is " }, { content: "21 °C." }], "stop", usage);

function stream(
  model: LanguageModel,
  more: { readonly abortSignal?: AbortSignal; readonly tools?: ToolSet } = {},
): StreamTextResult<ToolSet, Record<string, unknown>, never> {
  return streamText({
    model,
    messages: toAiSdk([said]),
    tools,
    stopWhen: isStepCount(5),
    maxRetries: 0,
    onError: () => undefined,
    ...more,
  }) as never;
}

const compatible = (baseURL: string): LanguageModel =>
  createOpenAICompatible({ name: "tiny", baseURL, includeUsage: true })("tiny-1");

type Part = LanguageModelV4StreamPart;

function mock(...steps: readonly (readonly Part[])[]): MockLanguageModelV4 {
  let at = 0;
  return new MockLanguageModelV4({
    doStream: async () => {
      at += 1;
      return { stream: convertArrayToReadableStream([...(steps[at - 1] ?? [])]) };
    },
  });
}

function finish(unified: Extract<Part, { type: "finish" }>["finishReason"]["unified"]): Part {
  return {
    type: "finish",
    finishReason: { unified, raw: unified },
    usage: {
      inputTokens: { total: 3, noCache: 3, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 4, text: 4, reasoning: 0 },
    },
  };
}

const text = (delta: string): readonly Part[] => [
  { type: "text-start", id: "0" },
  { type: "text-delta", id: "0", delta },
  { type: "text-end", id: "0" },
];

function asTranscript({ items }: Written): readonly Item[] {
  return [said, ...items];
}

describe("a run of streamText", () => {
  test("with tools over HTTP is an item for each step, to the letter", async () => {
    await using server = await bridgeServer([calling, answering]);

    const run = await written(fromAiSdk(stream(compatible(server.url))));

    const [first = [], ...rest] = run.items.map(({ parts }) => sketch(parts));
    expect(first.slice(0, 4)).toEqual([
      "reasoning: two things",
      "text: Let me look \u{1f680}",
      'call call_a weather {"city":"Graz"}',
      "call call_b broken {}",
    ]);
    // In the order in which the tools were done.
    expect(first.slice(4).toSorted()).toEqual([
      'result call_a weather ok {"city":"Graz","degrees":21,"unit":"C"}',
      "result call_b broken failed the wire is cut",
    ]);
    expect(rest).toEqual([["text: It is 21 °C."]]);
    expect(run.items.map(({ stop }) => stop)).toEqual(["tools", "end"]);
    expect(run.items.map(({ model }) => model)).toEqual(["ai-sdk/tiny-1", "ai-sdk/tiny-1"]);
    expect(run.items.map(({ usage: used }) => used)).toMatchObject([
      { inputTokens: 10, outputTokens: 5, cachedTokens: 4 },
      { inputTokens: 10, outputTokens: 5, cachedTokens: 4 },
    ]);
    expect(chunksOf(run.updates, "text")).toEqual([
      "Let me ",
      "look ",
      "\u{1f680}",
      "It is ",
      "21 °C.",
    ]);
    expect(checkTranscript(asTranscript(run))).toEqual([]);
  });

  test("has the input that a tool ran on, where that is not what the model wrote", async () => {
    await using server = await bridgeServer([calling, answering]);

    const { items } = await written(fromAiSdk(stream(compatible(server.url))));

    const calls = items[0]?.parts.filter((part) => part.kind === "tool_call");
    expect(calls?.[0]).toMatchObject({
      input: { city: "Graz" },
      metadata: { input: { city: "Graz", unit: "C" } },
    });
    expect(calls?.[1]?.metadata).toBeUndefined();
  });

  test("is sent to the next run as the model's own text and the tools' answers", async () => {
    await using server = await bridgeServer([calling, answering]);
    const run = await written(fromAiSdk(stream(compatible(server.url))));
    const next: Item = { ...said, id: itemId("u2") };

    const again = streamText({
      model: compatible(server.url),
      messages: toAiSdk([...asTranscript(run), next]),
      tools,
    });
    await again.text;

    expect(server.requests[2]?.["messages"]).toEqual([
      { role: "user", content: "how is the weather?" },
      {
        role: "assistant",
        content: "Let me look \u{1f680}",
        reasoning_content: "two things",
        tool_calls: [
          {
            id: "call_a",
            type: "function",
            function: { name: "weather", arguments: '{"city":"Graz"}' },
          },
          { id: "call_b", type: "function", function: { name: "broken", arguments: "{}" } },
        ],
      },
      { role: "tool", tool_call_id: "call_a", content: '{"city":"Graz","degrees":21,"unit":"C"}' },
      { role: "tool", tool_call_id: "call_b", content: "the wire is cut" },
      { role: "assistant", content: "It is 21 °C." },
      { role: "user", content: "how is the weather?" },
    ]);
  });

  test("that is stopped ends as aborted, and the socket is closed", async () => {
    await using server = await bridgeServer([
      { ...chatAnswer([{ content: "Once upon" }], undefined), last: "silence" },
    ]);
    const stop = new AbortController();
    const result = stream(compatible(server.url), { abortSignal: stop.signal });
    const stopping = (async function* () {
      for await (const update of fromAiSdk(result)) {
        yield update;
        if (update.op === "append_text") stop.abort();
      }
    })();

    const { items } = await written(stopping);

    expect(items).toMatchObject([
      { stop: "aborted", parts: [{ kind: "text", text: "Once upon" }] },
    ]);
    await server.left;
  });

  test("that the vendor refuses fails, with its cause", async () => {
    const headers = { "content-type": "application/json", "retry-after": "3" };
    const body = ['{"error":{"message":"slow down"}}'];
    await using server = await bridgeServer([{ status: 429, headers, body }]);

    const { items } = await written(fromAiSdk(stream(compatible(server.url))));

    expect(items).toMatchObject([
      {
        stop: "failed",
        parts: [],
        cause: { code: "rate_limited", retryable: true, evidence: { retryAfterMs: 3_000 } },
      },
    ]);
  });

  test("whose second request is refused keeps its first step, and fails", async () => {
    await using server = await bridgeServer([calling, { status: 500, body: ["oops"] }]);

    const { items } = await written(fromAiSdk(stream(compatible(server.url))));

    expect(items.map(({ stop }) => stop)).toEqual(["tools", "failed"]);
    expect(items[1]?.cause).toMatchObject({ code: "server_error", retryable: true });
  });

  test("that is cut in mid-sentence is truncated", async () => {
    const answer = chatAnswer([{ content: "Half a" }], undefined);
    await using server = await bridgeServer([{ body: answer.body.slice(0, -1), last: "break" }]);

    const { items } = await written(fromAiSdk(stream(compatible(server.url))));

    expect(items).toMatchObject([{ stop: "truncated", parts: [{ text: "Half a" }] }]);
  });

  test("whose stream breaks off without a finish is truncated, also between steps", async () => {
    const parts = [
      { type: "start" },
      { type: "start-step" },
      { type: "finish-step", finishReason: "tool-calls", rawFinishReason: "tool_calls" },
    ];
    const fullStream = (async function* () {
      yield* parts;
    })();

    const { items } = await written(fromAiSdk({ fullStream }));

    expect(items.map(({ stop }) => stop)).toEqual(["end", "truncated"]);
  });

  test("with ids that each step uses again keeps its parts apart", async () => {
    const call: Part = {
      type: "tool-call",
      toolCallId: "c",
      toolName: "weather",
      input: '{"city":"A"}',
    };
    const model = mock(
      [...text("one"), call, finish("tool-calls")],
      [...text("two"), call, finish("tool-calls")],
      [...text("three"), finish("stop")],
    );

    const run = await written(fromAiSdk(stream(model)));

    expect(run.items.map(({ parts }) => sketch(parts))).toEqual([
      [
        "text: one",
        'call c weather {"city":"A","unit":"C"}',
        'result c weather ok {"city":"A","degrees":21,"unit":"C"}',
      ],
      [
        "text: two",
        'call c_2 weather {"city":"A","unit":"C"}',
        'result c_2 weather ok {"city":"A","degrees":21,"unit":"C"}',
      ],
      ["text: three"],
    ]);
    expect(checkTranscript(asTranscript(run))).toEqual([]);
  });

  test("with a call that can't be read answers it with the reason", async () => {
    const model = mock(
      [
        { type: "tool-input-start", id: "c", toolName: "weather" },
        { type: "tool-input-delta", id: "c", delta: '{"city":' },
        { type: "tool-input-end", id: "c" },
        { type: "tool-call", toolCallId: "c", toolName: "weather", input: '{"city":' },
        finish("tool-calls"),
      ],
      [...text("sorry"), finish("stop")],
    );

    const run = await written(fromAiSdk(stream(model)));

    expect(sketch(run.items[0]?.parts ?? [])[0]).toBe('call c weather {"city": !truncated');
    expect(run.items[0]?.parts[1]).toMatchObject({ kind: "tool_result", status: "failed" });
    expect(run.items[1]?.stop).toBe("end");
  });

  test("with a tool that streams its result has the last one, once", async () => {
    const counting = tool({
      inputSchema: z.object({}),
      async *execute() {
        yield 1;
        yield 2;
        yield { done: true };
      },
    });
    const model = mock(
      [
        { type: "tool-call", toolCallId: "c", toolName: "counting", input: "{}" },
        finish("tool-calls"),
      ],
      [...text("done"), finish("stop")],
    );

    const { items } = await written(fromAiSdk(stream(model, { tools: { counting } })));

    expect(sketch(items[0]?.parts ?? [])).toEqual([
      "call c counting {}",
      'result c counting ok {"done":true}',
    ]);
  });

  test("that waits for a person is paused", async () => {
    const guarded = tool({
      inputSchema: z.object({}),
      needsApproval: true,
      execute: async () => "paid",
    });
    const model = mock([
      { type: "tool-call", toolCallId: "c", toolName: "guarded", input: "{}" },
      finish("tool-calls"),
    ]);

    const { items } = await written(fromAiSdk(stream(model, { tools: { guarded } })));

    expect(items.map(({ stop }) => stop)).toEqual(["paused"]);
    expect(sketch(items[0]?.parts ?? [])).toEqual([
      "call c guarded {}",
      "custom tool-approval-request",
    ]);
  });

  test("has what a provider ran by itself as custom parts, which go back to it", async () => {
    const model = mock([
      {
        type: "tool-call",
        toolCallId: "s",
        toolName: "web_search",
        input: '{"query":"x"}',
        providerExecuted: true,
        dynamic: true,
      },
      {
        type: "tool-result",
        toolCallId: "s",
        toolName: "web_search",
        result: ["hit"],
        dynamic: true,
      },
      { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
      ...text("found"),
      finish("stop"),
    ]);

    const run = await written(fromAiSdk(stream(model)));

    expect(sketch(run.items[0]?.parts ?? [])).toEqual([
      "custom tool-call",
      "custom tool-result",
      "media image/png 3",
      "text: found",
    ]);
    expect(toAiSdk(asTranscript(run))[1]).toMatchObject({
      role: "assistant",
      content: [
        { type: "tool-call", toolCallId: "s", input: { query: "x" }, providerExecuted: true },
        { type: "tool-result", toolCallId: "s", output: { type: "json", value: ["hit"] } },
        { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) },
        { type: "text", text: "found" },
      ],
    });
  });

  test("keeps the signature of its reasoning for the next run", async () => {
    const model = mock(
      [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: "hm" },
        {
          type: "reasoning-delta",
          id: "r",
          delta: "",
          providerMetadata: { anthropic: { signature: "sig" } },
        },
        { type: "reasoning-end", id: "r" },
        ...text("so"),
        finish("stop"),
      ],
      [...text("again"), finish("stop")],
    );
    const run = await written(fromAiSdk(stream(model)));

    await streamText({ model, messages: toAiSdk([...asTranscript(run), said]) }).text;

    expect(run.items[0]?.parts[0]).toMatchObject({ opaque: { anthropic: { signature: "sig" } } });
    expect(model.doStreamCalls[1]?.prompt[1]?.content).toMatchObject([
      { type: "reasoning", text: "hm", providerOptions: { anthropic: { signature: "sig" } } },
      { type: "text", text: "so" },
    ]);
  });
});
