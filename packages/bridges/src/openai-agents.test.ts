import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { checkTranscript } from "@millrace/core/writing";
import { afterAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { bridgeServer, chatAnswer } from "./testing/bridge-server.ts";
import type { Answer } from "./testing/bridge-server.ts";
import { chunksOf, sketch, written } from "./testing/updates.ts";
import { fromOpenaiAgents } from "./openai-agents.ts";
import type { OpenaiAgentsResult } from "./openai-agents.ts";

setTracingDisabled(true);
afterAll(() => setTracingDisabled(false));

const weather = tool({
  name: "weather",
  description: "tells the weather",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => `21 °C in ${city}`,
});
const broken = tool({
  name: "broken",
  description: "fails",
  parameters: z.object({}),
  execute: async (): Promise<string> => {
    throw new Error("the wire is cut");
  },
});
const guarded = tool({
  name: "guarded",
  description: "asks first",
  parameters: z.object({}),
  needsApproval: true,
  execute: async () => "paid",
});

const agent = new Agent({ name: "Sky", model: "tiny-1", tools: [weather, broken, guarded] });

async function run(
  url: string,
  more: {
    readonly signal?: AbortSignal;
    readonly responses?: boolean;
    readonly agent?: Agent;
    readonly maxTurns?: number;
  } = {},
): Promise<OpenaiAgentsResult> {
  const { signal, responses = false, agent: own = agent, maxTurns = 5 } = more;
  const modelProvider = new OpenAIProvider({
    apiKey: "none",
    baseURL: url,
    useResponses: responses,
  });
  return new Runner({ modelProvider, tracingDisabled: true }).run(own, "how is it?", {
    stream: true,
    maxTurns,
    ...(signal === undefined ? {} : { signal }),
  });
}

const piece = (index: number, text: string, id?: string, name?: string): object => ({
  tool_calls: [
    {
      index,
      ...(id === undefined ? {} : { id, type: "function" }),
      function: { ...(name === undefined ? {} : { name }), arguments: text },
    },
  ],
});

const calling = chatAnswer(
  [
    { reasoning: "two " },
    { reasoning: "things" },
    { content: "Let me " },
    { content: "look \ud83d" },
    { content: "\ude80" },
    piece(0, "", "call_a", "weather"),
    piece(0, '{"city":'),
    piece(0, '"Graz"}'),
    piece(1, "{}", "call_b", "broken"),
  ],
  "tool_calls",
  {
    prompt_tokens: 10,
    completion_tokens: 5,
    total_tokens: 15,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: 2 },
  },
);
const answering = chatAnswer([{ content: "It is " }, { content: "21 °C." }], "stop");

describe("a run of the OpenAI Agents SDK over a chat API", () => {
  test("is an item for each reply, with calls and outputs once and texts to the letter", async () => {
    await using server = await bridgeServer([calling, answering]);

    const { items, updates } = await written(fromOpenaiAgents(await run(server.url)));

    expect(items.map(({ parts }) => sketch(parts))).toEqual([
      [
        "reasoning: two things",
        "text: Let me look \u{1f680}",
        'call call_a weather {"city":"Graz"}',
        "call call_b broken {}",
        'result call_a weather ok "21 °C in Graz"',
        // The framework hides the error: this is the text that the model gets.
        expect.stringMatching(/^result call_b broken ok "An error occurred/),
      ],
      ["text: It is 21 °C."],
    ]);
    expect(items.map(({ stop }) => stop)).toEqual(["tools", "end"]);
    expect(items[0]?.usage).toEqual({
      inputTokens: 10,
      outputTokens: 5,
      cachedTokens: 4,
      reasoningTokens: 2,
    });
    expect(items[1]?.usage).toBeUndefined();
    expect(items[0]?.model).toBe("openai-agents/tiny-1");
    expect(chunksOf(updates, "text")).toEqual([
      "Let me ",
      "look ",
      "\u{1f680}",
      "It is ",
      "21 °C.",
    ]);
    expect(chunksOf(updates, "tool_call")).toEqual(['{"city":', '"Graz"}', "{}"]);
    expect(checkTranscript(items)).toEqual([]);
  });

  test("shows a call before its arguments are whole", async () => {
    await using server = await bridgeServer([calling, answering]);

    const { updates } = await written(fromOpenaiAgents(await run(server.url)));

    const begin = updates.findIndex(
      (each) => each.op === "begin_part" && each.kind === "tool_call",
    );
    const commit = updates.findIndex(
      (each) => each.op === "commit_part" && each.part.kind === "tool_call",
    );
    expect(
      updates.slice(begin, commit).filter(({ op }) => op === "append_text").length,
    ).toBeGreaterThan(1);
  });

  test("takes away the empty object that some vendors send first, as the framework does", async () => {
    const doubled = chatAnswer(
      [piece(0, "{}", "c", "weather"), piece(0, '{"city":"Graz"}')],
      "tool_calls",
    );
    await using server = await bridgeServer([doubled, answering]);

    const { items } = await written(fromOpenaiAgents(await run(server.url)));

    expect(sketch(items[0]?.parts ?? [])).toEqual([
      'call c weather {"city":"Graz"}',
      'result c weather ok "21 °C in Graz"',
    ]);
  });

  test("that ends without a reason is truncated, though the framework is content", async () => {
    await using server = await bridgeServer([chatAnswer([{ content: "Half a" }], undefined)]);

    const { items } = await written(fromOpenaiAgents(await run(server.url)));

    expect(items).toMatchObject([{ stop: "truncated", parts: [{ text: "Half a" }] }]);
  });

  test.each([
    ["length", "length"],
    ["content_filter", "filtered"],
    ["brand_new", "failed"],
  ])("with finish reason %s ends as %s", async (reason, stop) => {
    await using server = await bridgeServer([chatAnswer([{ content: "So" }], reason)]);

    const { items } = await written(fromOpenaiAgents(await run(server.url)));

    expect(items.map((item) => item.stop)).toEqual([stop]);
    expect(sketch(items[0]?.parts ?? [])).toEqual(["text: So"]);
  });

  test("that is stopped ends as aborted, and the socket is closed", async () => {
    await using server = await bridgeServer([
      { ...chatAnswer([{ content: "Once upon" }], undefined), last: "silence" },
    ]);
    const stop = new AbortController();
    const result = await run(server.url, { signal: stop.signal });
    const stopping = (async function* () {
      for await (const update of fromOpenaiAgents(result)) {
        yield update;
        if (update.op === "append_text") stop.abort();
      }
    })();

    const { items } = await written(stopping);

    expect(items).toMatchObject([{ stop: "aborted", parts: [{ text: "Once upon" }] }]);
    await server.left;
  });

  test("that the vendor refuses fails with its cause", async () => {
    const body = ['{"error":{"message":"bad key","code":"invalid_api_key"}}'];
    const headers = { "content-type": "application/json" };
    await using server = await bridgeServer([{ status: 401, headers, body }]);

    const { items } = await written(fromOpenaiAgents(await run(server.url)));

    expect(items).toMatchObject([
      { stop: "failed", parts: [], cause: { code: "unauthorized", retryable: false } },
    ]);
  });

  test("that reaches its limit of turns keeps its items, and fails", async () => {
    await using server = await bridgeServer([calling]);

    const { items } = await written(fromOpenaiAgents(await run(server.url, { maxTurns: 1 })));

    expect(items.map(({ stop }) => stop)).toEqual(["tools", "failed"]);
    expect(items[1]?.cause).toMatchObject({ code: "provider_error", retryable: false });
  });

  test("that waits for a person is paused", async () => {
    await using server = await bridgeServer([
      chatAnswer([piece(0, "{}", "c", "guarded")], "tool_calls"),
    ]);

    const { items } = await written(fromOpenaiAgents(await run(server.url)));

    expect(items).toMatchObject([{ stop: "paused", parts: [{ kind: "tool_call", callId: "c" }] }]);
  });

  test("that goes to another agent has a call and its answer", async () => {
    const expert = new Agent({ name: "Expert", model: "tiny-1" });
    const front = new Agent({ name: "Front", model: "tiny-1", handoffs: [expert] });
    await using server = await bridgeServer([
      chatAnswer([piece(0, "{}", "h", "transfer_to_Expert")], "tool_calls"),
      chatAnswer([{ content: "I know." }], "stop"),
    ]);

    const { items } = await written(fromOpenaiAgents(await run(server.url, { agent: front })));

    expect(items.map(({ parts }) => sketch(parts))).toEqual([
      [
        "call h transfer_to_Expert {}",
        expect.stringMatching(/^result h transfer_to_Expert ok .*Expert/),
      ],
      ["text: I know."],
    ]);
    expect(checkTranscript(items)).toEqual([]);
  });
});

describe("a run of the OpenAI Agents SDK over the Responses API", () => {
  const events = (
    list: readonly { readonly type: string; readonly [field: string]: unknown }[],
  ): Answer => ({
    body: list.map(
      (event, at) =>
        `event: ${event.type}\ndata: ${JSON.stringify({ sequence_number: at, ...event })}\n\n`,
    ),
  });
  const base = {
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "tiny-3",
    parallel_tool_calls: true,
    tools: [],
    output: [],
  };
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 4 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
    total_tokens: 15,
  };
  const call = {
    type: "function_call",
    id: "fc_1",
    call_id: "call_a",
    name: "weather",
    arguments: "",
    status: "in_progress",
  };
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [],
  };
  const done = { ...call, arguments: '{"city":"Graz"}', status: "completed" };
  const calling = events([
    { type: "response.created", response: { ...base, status: "in_progress" } },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { type: "reasoning", id: "rs_1", summary: [] },
    },
    {
      type: "response.reasoning_summary_text.delta",
      item_id: "rs_1",
      output_index: 0,
      summary_index: 0,
      delta: "look ",
    },
    {
      type: "response.reasoning_summary_text.delta",
      item_id: "rs_1",
      output_index: 0,
      summary_index: 0,
      delta: "up",
    },
    { type: "response.output_item.added", output_index: 1, item: call },
    {
      type: "response.function_call_arguments.delta",
      item_id: "fc_1",
      output_index: 1,
      delta: '{"city":',
    },
    {
      type: "response.function_call_arguments.delta",
      item_id: "fc_1",
      output_index: 1,
      delta: '"Graz"}',
    },
    {
      type: "response.completed",
      response: {
        ...base,
        status: "completed",
        usage,
        output: [
          { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "look up" }] },
          done,
        ],
      },
    },
  ]);
  const words = { type: "output_text", text: "It is 21 °C.", annotations: [] };
  const texts = [
    { type: "response.created", response: { ...base, status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item: message },
    {
      type: "response.output_text.delta",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "It is ",
    },
    {
      type: "response.output_text.delta",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "21 °C.",
    },
  ] as const;

  test("has reasoning, calls as they come, and texts, once", async () => {
    await using server = await bridgeServer([
      calling,
      events([
        ...texts,
        {
          type: "response.completed",
          response: {
            ...base,
            status: "completed",
            usage,
            output: [{ ...message, content: [words] }],
          },
        },
      ]),
    ]);

    const { items, updates } = await written(
      fromOpenaiAgents(await run(server.url, { responses: true })),
    );

    expect(items.map(({ parts }) => sketch(parts))).toEqual([
      [
        "reasoning: look up",
        'call call_a weather {"city":"Graz"}',
        'result call_a weather ok "21 °C in Graz"',
      ],
      ["text: It is 21 °C."],
    ]);
    expect(items.map(({ stop }) => stop)).toEqual(["tools", "end"]);
    expect(items[0]?.usage).toMatchObject({ inputTokens: 10, cachedTokens: 4, reasoningTokens: 2 });
    expect(items[0]?.model).toBe("openai-agents/tiny-3");
    expect(chunksOf(updates, "tool_call")).toEqual(['{"city":', '"Graz"}']);
  });

  test("that reaches the limit of tokens has a reply that ends by length, and fails as the framework does", async () => {
    await using server = await bridgeServer([
      events([
        ...texts,
        {
          type: "response.incomplete",
          response: {
            ...base,
            status: "incomplete",
            incomplete_details: { reason: "max_output_tokens" },
            output: [],
          },
        },
      ]),
    ]);

    const { items } = await written(fromOpenaiAgents(await run(server.url, { responses: true })));

    expect(items[0]).toMatchObject({ stop: "length", parts: [{ text: "It is 21 °C." }] });
    expect(items.at(-1)?.stop).toBe("failed");
  });
});
