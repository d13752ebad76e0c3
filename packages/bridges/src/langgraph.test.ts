import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { AIMessage, AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import type { BaseMessage } from "@langchain/core/messages";
import { ChatGenerationChunk } from "@langchain/core/outputs";
import type { ChatResult } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import {
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  StateGraph,
} from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { addUsage, checkTranscript, noUsage } from "@millrace/core/writing";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { chunksOf, sketch, written } from "./testing/updates.ts";
import { fromLangGraph } from "./langgraph.ts";
import type { LangGraphEvent } from "./langgraph.ts";

type Reply = readonly AIMessageChunk[] | Error;

/** A chat model that replays scripted replies. */
class ScriptedChatModel extends BaseChatModel {
  readonly #replies: Reply[];
  readonly #isStreaming: boolean;

  constructor(replies: readonly Reply[], isStreaming = true) {
    super({});
    this.#replies = [...replies];
    this.#isStreaming = isStreaming;
    if (!isStreaming) this.disableStreaming = true;
  }

  override _llmType(): string {
    return "told";
  }

  override async _generate(): Promise<ChatResult> {
    const reply = this.#next();
    const [first, ...rest] = reply;
    const chunk = rest.reduce((sum, each) => sum.concat(each), first ?? new AIMessageChunk(""));
    const { content, tool_calls, response_metadata } = chunk;
    const message = new AIMessage({ content, tool_calls: tool_calls ?? [], response_metadata });
    return { generations: [{ text: chunk.text, message }] };
  }

  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (const message of this.#next()) {
      const chunk = new ChatGenerationChunk({ message, text: message.text });
      yield chunk;
      await manager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, {
        chunk,
      });
    }
    if (!this.#isStreaming) throw new Error("this model does not stream");
  }

  #next(): readonly AIMessageChunk[] {
    const reply = this.#replies.shift();
    if (reply === undefined) throw new Error("nothing left to say");
    if (reply instanceof Error) throw reply;
    return reply;
  }
}

const say = (content: string): AIMessageChunk => new AIMessageChunk({ content });
const piece = (index: number, args: string, id?: string, name?: string): AIMessageChunk =>
  new AIMessageChunk({
    content: "",
    tool_call_chunks: [
      {
        type: "tool_call_chunk",
        index,
        args,
        ...(id === undefined ? {} : { id }),
        ...(name === undefined ? {} : { name }),
      },
    ],
  });
const stopped = (finish_reason: string): AIMessageChunk =>
  Object.assign(new AIMessageChunk({ content: "", response_metadata: { finish_reason } }), {
    usage_metadata: {
      input_tokens: 10,
      output_tokens: 5,
      total_tokens: 15,
      input_token_details: { cache_read: 4, cache_creation: 1 },
      output_token_details: { reasoning: 2 },
    },
  });

const add = tool(async ({ a, b }: { a: number; b: number }) => `${a + b}`, {
  name: "add",
  description: "adds",
  schema: z.object({ a: z.number(), b: z.number() }),
});
const boom = tool(
  async (): Promise<string> => {
    throw new Error("the wire is cut");
  },
  { name: "boom", description: "fails", schema: z.object({}) },
);

type Graph = {
  streamEvents: (
    input: object,
    options: { version: "v2"; signal?: AbortSignal; configurable?: object },
  ) => AsyncIterable<LangGraphEvent>;
};

function agent(
  model: BaseChatModel,
  tools: ConstructorParameters<typeof ToolNode>[0] = [add, boom],
  handleToolErrors = true,
): Graph {
  return new StateGraph(MessagesAnnotation)
    .addNode("agent", async (state) => ({ messages: [await model.invoke(state.messages)] }))
    .addNode("tools", new ToolNode(tools, { handleToolErrors }))
    .addEdge("__start__", "agent")
    .addConditionalEdges("agent", (state) => {
      const last = state.messages.at(-1);
      return last instanceof AIMessage || last instanceof AIMessageChunk
        ? (last.tool_calls ?? []).length > 0
          ? "tools"
          : "__end__"
        : "__end__";
    })
    .addEdge("tools", "agent")
    .compile({ checkpointer: new MemorySaver() });
}

function events(graph: Graph, signal?: AbortSignal): AsyncIterable<LangGraphEvent> {
  return graph.streamEvents(
    { messages: [new HumanMessage("how is it?")] },
    {
      version: "v2",
      configurable: { thread_id: "t" },
      ...(signal === undefined ? {} : { signal }),
    },
  );
}

const calling: Reply = [
  say("Let me "),
  say("look \ud83d"),
  say("\ude80"),
  piece(0, '{"a":1,', "c1", "add"),
  piece(1, "{}", "c2", "boom"),
  piece(0, '"b":2}'),
  stopped("tool_calls"),
];

describe("a run of a LangGraph graph", () => {
  test("is an item for each reply, with calls and results once and texts to the letter", async () => {
    const model = new ScriptedChatModel([calling, [say("It is "), say("3."), stopped("stop")]]);

    const { items, updates } = await written(fromLangGraph(events(agent(model))));

    expect(items.map(({ parts }) => sketch(parts))).toEqual([
      [
        "text: Let me look \u{1f680}",
        'call c1 add {"a":1,"b":2}',
        "call c2 boom {}",
        'result c1 add ok "3"',
        expect.stringMatching(/^result c2 boom failed Error: the wire is cut/),
      ],
      ["text: It is 3."],
    ]);
    expect(items.map(({ stop }) => stop)).toEqual(["tools", "end"]);
    expect(items[0]?.usage).toEqual({
      inputTokens: 10,
      outputTokens: 5,
      cachedTokens: 4,
      cacheWriteTokens: 1,
      reasoningTokens: 2,
    });
    expect(items[0]?.model).toMatch(/^langgraph\//);
    expect(chunksOf(updates, "text")).toEqual(["Let me ", "look ", "\u{1f680}", "It is ", "3."]);
    expect(chunksOf(updates, "tool_call")).toEqual(['{"a":1,', "{}", '"b":2}']);
    expect(checkTranscript(items)).toEqual([]);
    expect(JSON.stringify(items)).not.toContain("at tool");
  });

  test("with a model that does not stream has its whole replies", async () => {
    const model = new ScriptedChatModel([calling, [say("It is 3."), stopped("stop")]], false);

    const { items } = await written(fromLangGraph(events(agent(model))));

    expect(items.map(({ parts }) => sketch(parts))).toEqual([
      [
        "text: Let me look \u{1f680}",
        'call c1 add {"a":1,"b":2}',
        "call c2 boom {}",
        'result c1 add ok "3"',
        expect.stringMatching(/^result c2 boom failed/),
      ],
      ["text: It is 3."],
    ]);
  });

  test("has thoughts apart from texts, and other blocks as custom parts", async () => {
    const block = (content: object): AIMessageChunk =>
      new AIMessageChunk({ content: [content] as never });
    const model = new ScriptedChatModel([
      [
        block({ type: "thinking", thinking: "hm", index: 0 }),
        block({ type: "thinking", thinking: "m", index: 0 }),
        block({ type: "text", text: "So ", index: 1 }),
        block({ type: "text", text: "it is.", index: 1 }),
        block({ type: "server_tool_use", id: "s1", name: "web_search", index: 2 }),
        new AIMessageChunk({ content: [], response_metadata: { stop_reason: "end_turn" } }),
      ],
    ]);

    const { items } = await written(fromLangGraph(events(agent(model))));

    expect(items.map(({ parts }) => sketch(parts))).toEqual([
      ["reasoning: hmm", "text: So it is.", "custom server_tool_use"],
    ]);
    expect(items[0]?.evidence).toEqual({ finishReason: "end_turn" });
  });

  test("does not show what a tool asks a model of its own", async () => {
    const inner = new ScriptedChatModel([
      [say("inner "), piece(0, '{"a":0,"b":0}', "i1", "add"), stopped("tool_calls")],
      [say("words"), stopped("stop")],
    ]);
    const expert = tool(
      async (): Promise<string> => {
        const state: unknown = await (
          agent(inner) as unknown as {
            invoke: (input: object, config: object) => Promise<{ messages: BaseMessage[] }>;
          }
        )
          .invoke({ messages: [new HumanMessage("?")] }, { configurable: { thread_id: "inner" } })
          .then(({ messages }) => messages.at(-1)?.content);
        return `the expert says: ${String(state)}`;
      },
      { name: "expert", description: "asks", schema: z.object({}) },
    );
    const plainAsk = tool(
      async (): Promise<string> =>
        (await new ScriptedChatModel([[say("aside"), stopped("stop")]]).invoke("?")).text,
      { name: "ask", description: "asks a model", schema: z.object({}) },
    );
    const model = new ScriptedChatModel([
      [piece(0, "{}", "c1", "expert"), piece(1, "{}", "c2", "ask"), stopped("tool_calls")],
      [say("Well."), stopped("stop")],
    ]);

    const { items } = await written(fromLangGraph(events(agent(model, [expert, plainAsk]))));

    expect(items[0]?.parts.filter(({ kind }) => kind === "text")).toEqual([]);
    expect(
      items.flatMap(({ parts }) => sketch(parts)).filter((each) => !each.startsWith("custom")),
    ).toEqual([
      "call c1 expert {}",
      "call c2 ask {}",
      expect.stringMatching(
        /^result c2 ask ok "aside"|^result c1 expert ok "the expert says: words"/,
      ),
      expect.stringMatching(
        /^result c2 ask ok "aside"|^result c1 expert ok "the expert says: words"/,
      ),
      "text: Well.",
    ]);
  });

  test("shows the text of a graph within the graph, once", async () => {
    const inner = agent(new ScriptedChatModel([[say("inner words"), stopped("stop")]]));
    const outer = new ScriptedChatModel([[say("outer words"), stopped("stop")]]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("inner", inner as never)
      .addNode("outer", async (state) => ({ messages: [await outer.invoke(state.messages)] }))
      .addEdge("__start__", "inner")
      .addEdge("inner", "outer")
      .addEdge("outer", "__end__")
      .compile() as unknown as Graph;

    const { items } = await written(fromLangGraph(events(graph)));

    expect(items.map(({ parts }) => sketch(parts))).toEqual([
      ["text: inner words"],
      ["text: outer words"],
    ]);
  });

  test("keeps apart what two branches say at the same time", async () => {
    const left = new ScriptedChatModel([[say("l1 "), say("l2"), stopped("stop")]]);
    const right = new ScriptedChatModel([[say("r1 "), say("r2"), stopped("stop")]]);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("left", async (state) => ({ messages: [await left.invoke(state.messages)] }))
      .addNode("right", async (state) => ({ messages: [await right.invoke(state.messages)] }))
      .addEdge("__start__", "left")
      .addEdge("__start__", "right")
      .compile() as unknown as Graph;

    const { items } = await written(fromLangGraph(events(graph)));

    const texts = items.flatMap(({ parts }) => sketch(parts)).toSorted();
    expect(texts).toEqual(["text: l1 l2", "text: r1 r2"]);
    expect(new Set(items.map(({ stop }) => stop))).toEqual(new Set(["end"]));
    const used = items.map(({ usage }) => usage ?? noUsage).reduce(addUsage);
    expect(used).toMatchObject({ inputTokens: 20, outputTokens: 10, cachedTokens: 8 });
  });

  test("answers a call whose tool returns a command", async () => {
    const go = tool(
      async (_input: object, config: { toolCall?: { id?: string } }) =>
        new Command({
          update: {
            messages: [
              new ToolMessage({
                content: "went",
                tool_call_id: config.toolCall?.id ?? "",
                name: "go",
              }),
            ],
          },
        }),
      { name: "go", description: "goes", schema: z.object({}) },
    );
    const model = new ScriptedChatModel([
      [piece(0, "{}", "c1", "go"), stopped("tool_calls")],
      [say("Gone."), stopped("stop")],
    ]);

    const { items } = await written(fromLangGraph(events(agent(model, [go]))));

    expect(items.map(({ parts }) => sketch(parts))).toEqual([
      ["call c1 go {}", 'result c1 go ok "went"'],
      ["text: Gone."],
    ]);
  });

  test("that a tool ends is failed, and the call has the reason", async () => {
    const model = new ScriptedChatModel([[piece(0, "{}", "c2", "boom"), stopped("tool_calls")]]);

    const { items } = await written(fromLangGraph(events(agent(model, [boom], false))));

    expect(items.map(({ stop }) => stop)).toEqual(["tools", "failed"]);
    expect(sketch(items[0]?.parts ?? [])).toEqual([
      "call c2 boom {}",
      "result c2 boom failed the wire is cut",
    ]);
    expect(items[1]?.cause?.message).toContain("the wire is cut");
  });

  test("that the model ends is failed", async () => {
    const error = Object.assign(new Error("429 slow down"), {
      status: 429,
      headers: { "retry-after": "2" },
      error: { message: "slow down", type: "rate_limit_error" },
    });

    const { items } = await written(fromLangGraph(events(agent(new ScriptedChatModel([error])))));

    expect(items).toMatchObject([
      { stop: "failed", cause: { code: "rate_limited", evidence: { retryAfterMs: 2_000 } } },
    ]);
  });

  test("that is stopped ends as aborted", async () => {
    const stop = new AbortController();
    const model = new ScriptedChatModel([
      [say("Once "), say("upon "), say("a time"), stopped("stop")],
    ]);
    const stopping = (async function* () {
      for await (const update of fromLangGraph(events(agent(model), stop.signal))) {
        yield update;
        if (update.op === "append_text") stop.abort();
      }
    })();

    const { items } = await written(stopping);

    expect(items.at(-1)?.stop).toBe("aborted");
    expect(JSON.stringify(items)).toContain("Once ");
  });

  test("that asks a person is paused", async () => {
    const asking = tool(async (): Promise<string> => String(interrupt({ question: "sure?" })), {
      name: "asking",
      description: "asks",
      schema: z.object({}),
    });
    const model = new ScriptedChatModel([[piece(0, "{}", "c1", "asking"), stopped("tool_calls")]]);

    const { items } = await written(fromLangGraph(events(agent(model, [asking]))));

    expect(items.map(({ stop }) => stop)).toEqual(["paused"]);
    expect(sketch(items[0]?.parts ?? [])).toEqual(["call c1 asking {}"]);
    expect(JSON.stringify(items[0]?.evidence)).toContain("sure?");
  });

  test.each([
    ["length", "length", undefined],
    ["content_filter", "filtered", undefined],
    ["pause_turn", "paused", undefined],
    ["STOP", "end", undefined],
    ["brand_new", "failed", "unknown_stop"],
  ])("whose model stops with %s ends as %s", async (reason, stop, code) => {
    const model = new ScriptedChatModel([[say("So"), stopped(reason)]]);

    const { items } = await written(fromLangGraph(events(agent(model))));

    expect(items.map((item) => [item.stop, item.cause?.code])).toEqual([[stop, code]]);
    expect(sketch(items[0]?.parts ?? [])).toEqual(["text: So"]);
  });

  test("has the input that a tool ran on when the framework completed the arguments", async () => {
    const model = new ScriptedChatModel([
      [piece(0, '{"a":1,"b":2', "c1", "add"), stopped("tool_calls")],
      [say("3"), stopped("stop")],
    ]);

    const { items } = await written(fromLangGraph(events(agent(model))));

    expect(items[0]?.parts[0]).toMatchObject({
      raw: '{"a":1,"b":2',
      fault: { code: "truncated" },
      metadata: { input: { a: 1, b: 2 } },
    });
  });

  test("whose events break off is truncated", async () => {
    const model = new ScriptedChatModel([[say("One "), say("two"), stopped("stop")]]);
    const cut = (async function* () {
      let seen = 0;
      for await (const event of events(agent(model))) {
        if (event.event === "on_chat_model_stream" && ++seen > 1) return;
        yield event;
      }
    })();

    const { items } = await written(fromLangGraph(cut));

    expect(items).toMatchObject([{ stop: "truncated", parts: [{ text: "One " }] }]);
  });
});
