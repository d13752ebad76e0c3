import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
} from "@ai-sdk/provider";
import { itemId, partId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import type { ModelNotice, Reply } from "@millrace/core/ports";
import { convertArrayToReadableStream, MockLanguageModelV3, MockLanguageModelV4 } from "ai/test";
import { describe, expect, test } from "vitest";
import { sketch } from "./testing/updates.ts";
import { aiSdk } from "./ai-sdk.ts";

const prompt: Item = {
  id: itemId("u1"),
  author: "user",
  stop: "end",
  parts: [{ kind: "text", id: partId("p1"), text: "go" }],
};

const usage = {
  inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: 4, text: 4, reasoning: undefined },
};

type Part = LanguageModelV4StreamPart;
type Unified = Extract<Part, { type: "finish" }>["finishReason"]["unified"];

function finish(unified: Unified, raw?: string): Part {
  return { type: "finish", usage, finishReason: { unified, raw } };
}

function mock(...parts: readonly Part[]): MockLanguageModelV4 {
  return new MockLanguageModelV4({
    doStream: async () => ({ stream: convertArrayToReadableStream([...parts]) }),
  });
}

async function replyTo(
  model: LanguageModelV4,
  transcript: readonly Item[] = [prompt],
): Promise<Reply> {
  return aiSdk(model).stream({ transcript }).result;
}

function promptOf(model: MockLanguageModelV4): LanguageModelV4CallOptions["prompt"] {
  return model.doStreamCalls.at(-1)?.prompt ?? [];
}

describe("the parts of an AI SDK model", () => {
  test("may use one id for text and reasoning, and use it again", async () => {
    const reply = await replyTo(
      mock(
        { type: "reasoning-start", id: "0" },
        { type: "reasoning-delta", id: "0", delta: "a" },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "b" },
        { type: "reasoning-delta", id: "0", delta: "A" },
        { type: "reasoning-end", id: "0" },
        { type: "text-end", id: "0" },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "c" },
        { type: "text-start", id: "0" },
        { type: "text-delta", id: "0", delta: "d" },
        finish("stop", "stop"),
      ),
    );

    expect(reply.stop).toBe("end");
    expect(sketch(reply.parts)).toEqual(["reasoning: aA", "text: b", "text: c", "text: d"]);
  });

  test("may end a text after a call began", async () => {
    const reply = await replyTo(
      mock(
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "one " },
        { type: "tool-input-start", id: "c1", toolName: "look" },
        { type: "text-delta", id: "t", delta: "two" },
        { type: "tool-input-delta", id: "c1", delta: '{"a":1}' },
        { type: "text-end", id: "t" },
        { type: "tool-input-end", id: "c1" },
        { type: "tool-call", toolCallId: "c1", toolName: "look", input: '{"a":1}' },
        finish("tool-calls"),
      ),
    );

    expect(reply.stop).toBe("tools");
    expect(sketch(reply.parts)).toEqual(["text: one two", 'call c1 look {"a":1}']);
  });

  test("may be a call in one piece", async () => {
    const reply = await replyTo(
      mock(
        { type: "tool-call", toolCallId: "c1", toolName: "look", input: '{"a":1}' },
        { type: "tool-call", toolCallId: "c2", toolName: "look", input: "" },
        finish("stop", "STOP"),
      ),
    );

    expect(reply.stop).toBe("tools");
    expect(sketch(reply.parts)).toEqual(['call c1 look {"a":1}', "call c2 look "]);
    expect(reply.parts[1]).toMatchObject({ input: {} });
  });

  test("may be a call whose deltas are not its JSON", async () => {
    const reply = await replyTo(
      mock(
        { type: "tool-input-start", id: "c1", toolName: "patch", inputEncoding: "text" },
        { type: "tool-input-delta", id: "c1", delta: "*** Begin" },
        { type: "tool-call", toolCallId: "c1", toolName: "patch", input: '"*** Begin"' },
        finish("tool-calls"),
      ),
    );

    expect(sketch(reply.parts)).toEqual(['call c1 patch "*** Begin" !not_an_object']);
  });

  test("may be a call that is written anew at its end, as long as its value is the same", async () => {
    const reply = await replyTo(
      mock(
        { type: "tool-input-start", id: "c1", toolName: "look" },
        { type: "tool-input-delta", id: "c1", delta: '{ "a": 1 }' },
        { type: "tool-call", toolCallId: "c1", toolName: "look", input: '{"a":1}' },
        finish("tool-calls"),
      ),
    );

    expect(reply.stop).toBe("tools");
    expect(sketch(reply.parts)).toEqual(['call c1 look { "a": 1 }']);
  });

  test("may not be a call that has another value at its end", async () => {
    const reply = await replyTo(
      mock(
        { type: "tool-input-start", id: "c1", toolName: "pay" },
        { type: "tool-input-delta", id: "c1", delta: '{"euro":1}' },
        { type: "tool-call", toolCallId: "c1", toolName: "pay", input: '{"euro":100}' },
        finish("tool-calls"),
      ),
    );

    expect(reply).toMatchObject({ stop: "failed", cause: { code: "contradiction" } });
    expect(reply.parts[0]).toMatchObject({ kind: "tool_call", fault: { code: "truncated" } });
  });

  test("that begin a call and never end it leave one that can't run", async () => {
    const reply = await replyTo(
      mock(
        { type: "tool-input-start", id: "c1", toolName: "look" },
        { type: "tool-input-delta", id: "c1", delta: '{"a":1}' },
        { type: "tool-input-end", id: "c1" },
        finish("length"),
      ),
    );

    expect(reply.stop).toBe("length");
    expect(sketch(reply.parts)).toEqual(['call c1 look {"a":1} !truncated']);
  });

  test("of a reply cut by its limit make an empty last call one that can't run, and no other", async () => {
    const empty = (id: string): Part => ({
      type: "tool-call",
      toolCallId: id,
      toolName: "look",
      input: "{}",
    });

    const cut = await replyTo(mock(empty("c1"), empty("c2"), finish("length")));
    const whole = await replyTo(mock(empty("c1"), empty("c2"), finish("tool-calls")));

    expect(sketch(cut.parts)).toEqual(["call c1 look {}", "call c2 look  !truncated"]);
    expect(sketch(whole.parts)).toEqual(["call c1 look {}", "call c2 look {}"]);
  });

  test("that the provider runs by itself are custom, and are sent back to it", async () => {
    const anthropic = { anthropic: { caller: "direct" } };
    const first = mock(
      { type: "tool-input-start", id: "s1", toolName: "web_search", providerExecuted: true },
      { type: "tool-input-delta", id: "s1", delta: '{"query":"x"}' },
      { type: "tool-input-end", id: "s1" },
      {
        type: "tool-call",
        toolCallId: "s1",
        toolName: "web_search",
        input: '{"query":"x"}',
        providerExecuted: true,
        providerMetadata: anthropic,
      },
      {
        type: "tool-result",
        toolCallId: "s1",
        toolName: "web_search",
        result: { preview: true },
        preliminary: true,
      },
      { type: "tool-result", toolCallId: "s1", toolName: "web_search", result: [{ url: "u" }] },
      { type: "source", sourceType: "url", id: "1", url: "https://a.test" },
      {
        type: "tool-call",
        toolCallId: "s2",
        toolName: "web_search",
        input: "{}",
        providerExecuted: true,
      },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "found" },
      { type: "text-end", id: "t" },
      finish("stop"),
    );
    const reply = await replyTo(first);
    const item: Item = { id: itemId("m1"), author: "model", ...reply };

    await replyTo(first, [prompt, item, { ...prompt, id: itemId("u2") }]);

    expect(reply.stop).toBe("end");
    expect(sketch(reply.parts)).toEqual([
      "custom tool-call",
      "custom tool-result",
      "custom source",
      "custom tool-call",
      "text: found",
    ]);
    // The second search never got a result: a vendor refuses that.
    expect(promptOf(first)[1]).toEqual({
      role: "assistant",
      content: [
        {
          type: "tool-call",
          toolCallId: "s1",
          toolName: "web_search",
          input: { query: "x" },
          providerExecuted: true,
          providerOptions: anthropic,
        },
        {
          type: "tool-result",
          toolCallId: "s1",
          toolName: "web_search",
          output: { type: "json", value: [{ url: "u" }] },
        },
        { type: "text", text: "found" },
      ],
    });
  });

  test("that are not known pass, and are remarked on", async () => {
    const notices: ModelNotice[] = [];
    const unknown = { type: "hologram", id: "h" } as unknown as Part;
    const model = mock(
      { type: "stream-start", warnings: [] },
      { type: "raw", rawValue: { any: 1 } },
      { type: "ping" },
      unknown,
      { type: "custom", kind: "acme.mood", providerMetadata: { acme: { mood: "fine" } } },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "hi" },
      { type: "text-end", id: "t" },
      finish("stop"),
    );

    const reply = await aiSdk(model).stream({
      transcript: [prompt],
      notify: (notice) => {
        notices.push(notice);
        throw new Error("listeners must not matter");
      },
    }).result;

    expect(reply.stop).toBe("end");
    expect(sketch(reply.parts)).toEqual(["custom acme.mood", "text: hi"]);
    expect(notices).toMatchObject([{ type: "remark", code: "unknown_event" }]);
    await replyTo(model, [prompt, { id: itemId("m1"), author: "model", ...reply }, prompt]);
    expect(promptOf(model)[1]).toMatchObject({
      content: [
        { type: "custom", kind: "acme.mood", providerOptions: { acme: { mood: "fine" } } },
        { type: "text", text: "hi" },
      ],
    });
  });

  test("that are files become media", async () => {
    const model = mock(
      {
        type: "file",
        mediaType: "image/png",
        data: { type: "data", data: "AQID" },
        providerMetadata: { google: { thoughtSignature: "s" } },
      },
      {
        type: "file",
        mediaType: "audio/mp3",
        data: { type: "data", data: new Uint8Array([1, 2]) },
      },
      {
        type: "file",
        mediaType: "video/mp4",
        data: { type: "url", url: new URL("https://a.test/v") },
      },
      {
        type: "file",
        mediaType: "application/pdf",
        data: { type: "data", data: new Uint8Array([7]) },
      },
      finish("stop"),
    );

    const reply = await replyTo(model);

    expect(sketch(reply.parts)).toEqual([
      "media image/png 3",
      "media audio/mp3 2",
      "media video/mp4 https://a.test/v",
      "file application/pdf 1",
    ]);
    await replyTo(model, [prompt, { id: itemId("m1"), author: "model", ...reply }, prompt]);
    expect(promptOf(model)[1]).toMatchObject({
      content: [
        {
          type: "file",
          mediaType: "image/png",
          data: { type: "data", data: new Uint8Array([1, 2, 3]) },
          providerOptions: { google: { thoughtSignature: "s" } },
        },
        { type: "file", mediaType: "audio/mp3" },
        { type: "file", data: { type: "url" } },
        { type: "file", filename: "file" },
      ],
    });
  });

  test("that are files of the third version become media, and go back untagged", async () => {
    const model = new MockLanguageModelV3({
      doStream: async () => ({
        stream: convertArrayToReadableStream([
          { type: "file" as const, mediaType: "image/png", data: "AQID" },
          {
            type: "finish" as const,
            usage,
            finishReason: { unified: "stop" as const, raw: undefined },
          },
        ]),
      }),
    });
    const reply = await aiSdk(model).stream({ transcript: [prompt] }).result;

    const again: Item = { id: itemId("m1"), author: "model", ...reply };
    await aiSdk(model).stream({ transcript: [prompt, again, prompt] }).result;

    expect(sketch(reply.parts)).toEqual(["media image/png 3"]);
    expect(model.doStreamCalls[1]?.prompt[1]?.content).toEqual([
      { type: "file", mediaType: "image/png", data: new Uint8Array([1, 2, 3]) },
    ]);
  });

  test("carry signatures of texts and calls, which go back with them", async () => {
    const signed = (thoughtSignature: string): { google: { thoughtSignature: string } } => ({
      google: { thoughtSignature },
    });
    const model = mock(
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "well" },
      { type: "text-end", id: "t", providerMetadata: signed("one") },
      { type: "tool-input-start", id: "c1", toolName: "look" },
      { type: "tool-input-delta", id: "c1", delta: "{}", providerMetadata: { other: { x: 1 } } },
      {
        type: "tool-call",
        toolCallId: "c1",
        toolName: "look",
        input: "{}",
        providerMetadata: signed("two"),
      },
      finish("tool-calls"),
    );
    const reply = await replyTo(model);

    await replyTo(model, [prompt, { id: itemId("m1"), author: "model", ...reply }]);

    expect(promptOf(model)[1]).toEqual({
      role: "assistant",
      content: [
        { type: "text", text: "well", providerOptions: signed("one") },
        {
          type: "tool-call",
          toolCallId: "c1",
          toolName: "look",
          input: {},
          providerOptions: { other: { x: 1 }, ...signed("two") },
        },
      ],
    });
    expect(promptOf(model)[2]).toMatchObject({
      role: "tool",
      content: [{ toolCallId: "c1", output: { type: "error-text" } }],
    });
  });
});

describe("what an AI SDK model reports about its parts", () => {
  test("adds up, event by event and provider by provider", async () => {
    const model = mock(
      { type: "reasoning-start", id: "r", providerMetadata: { a: { item: "rs_1" } } },
      { type: "reasoning-delta", id: "r", delta: "hm" },
      { type: "reasoning-delta", id: "r", delta: "", providerMetadata: { a: { signature: "s" } } },
      { type: "reasoning-end", id: "r", providerMetadata: { b: { more: true } } },
      { type: "text-start", id: "t" },
      { type: "text-delta", id: "t", delta: "so" },
      {
        type: "text-end",
        id: "t",
        citations: [{ type: "url", url: "https://a.test" }] as never,
      },
      finish("stop", "stop"),
    );

    const reply = await replyTo(model);

    expect(reply.parts).toMatchObject([
      { kind: "reasoning", opaque: { a: { item: "rs_1", signature: "s" }, b: { more: true } } },
      { kind: "text", metadata: { citations: [{ type: "url", url: "https://a.test" }] } },
    ]);
  });

  test("is left out when it is not data, and the reply is whole all the same", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const model = mock(
      { type: "text-start", id: "t", providerMetadata: { a: cycle as never } },
      { type: "text-delta", id: "t", delta: "so" },
      { type: "text-end", id: "t", providerMetadata: { a: { half: "\ud83d", none: undefined } } },
      finish("stop", "stop"),
    );

    const reply = await replyTo(model);

    expect(reply.stop).toBe("end");
    expect(reply.parts[0]?.kind === "text" && reply.parts[0].metadata).toEqual({
      providerMetadata: { a: { half: "\ufffd" } },
    });
  });
});

describe("the end of an AI SDK model's stream", () => {
  const text: readonly Part[] = [
    { type: "text-start", id: "t" },
    { type: "text-delta", id: "t", delta: "so" },
    { type: "text-end", id: "t" },
  ];

  test.each([
    ["stop", "stop", "end", undefined],
    ["length", "max_tokens", "length", undefined],
    ["content-filter", "SAFETY", "filtered", undefined],
    ["tool-calls", "tool_calls", "end", undefined],
    ["error", undefined, "failed", "provider_error"],
    ["interrupted", undefined, "truncated", "truncated"],
    ["other", undefined, "truncated", "truncated"],
    ["other", "compaction", "failed", "unknown_stop"],
    ["vanished" as Unified, "gone", "failed", "unknown_stop"],
  ] as const)("with finish reason %s (%s) is %s", async (unified, raw, stop, code) => {
    const reply = await replyTo(mock(...text, finish(unified, raw)));

    expect(reply.stop).toBe(stop);
    expect(reply.cause?.code).toBe(code);
    expect(sketch(reply.parts)).toEqual(["text: so"]);
    expect(reply.usage).toEqual({ inputTokens: 3, outputTokens: 4, cachedTokens: 0 });
  });

  test("without a finish is a truncation", async () => {
    const reply = await replyTo(mock(...text));

    expect(reply).toMatchObject({ stop: "truncated", cause: { code: "truncated" } });
  });

  test("with a finish after an error is a failure all the same", async () => {
    const reply = await replyTo(
      mock(...text, { type: "error", error: new Error("no luck") }, finish("stop", "stop")),
    );

    expect(reply).toMatchObject({ stop: "failed", cause: { message: "no luck" } });
  });

  test("with a part left open closes it", async () => {
    const reply = await replyTo(mock(...text.slice(0, 2), finish("stop", "stop")));

    expect(reply.stop).toBe("end");
    expect(sketch(reply.parts)).toEqual(["text: so"]);
  });

  test("comes after its last finish: one that more follows is not the end", async () => {
    const reply = await replyTo(mock(finish("length"), ...text, finish("stop", "stop")));

    expect(reply.stop).toBe("end");
    expect(sketch(reply.parts)).toEqual(["text: so"]);
  });

  test("counts no usage that the provider did not report", async () => {
    const none = { ...usage, outputTokens: { total: undefined, text: 1, reasoning: 1 } };
    const odd = { ...usage, inputTokens: { ...usage.inputTokens, cacheRead: 99 } };
    const reason = { unified: "stop", raw: "stop" } as const;

    for (const each of [none, odd]) {
      const reply = await replyTo(
        mock(...text, { type: "finish", usage: each, finishReason: reason }),
      );
      expect(reply.stop).toBe("end");
      expect(reply.usage).toBeUndefined();
    }
  });

  test("comes at once when a model ignores that it was stopped", async () => {
    const never = new MockLanguageModelV4({ doStream: () => new Promise(() => undefined) });
    const stop = new AbortController();
    const stream = aiSdk(never).stream({ transcript: [prompt], signal: stop.signal });
    stop.abort();

    expect((await stream.result).stop).toBe("aborted");
  });

  test("comes when a stream ignores that it was stopped, which is then cancelled", async () => {
    const cancelled = Promise.withResolvers<void>();
    const stream = new ReadableStream<Part>({
      start: (controller) => {
        for (const part of text.slice(0, 2)) controller.enqueue(part);
      },
      cancel: () => cancelled.resolve(),
    });
    const stop = new AbortController();
    const model = new MockLanguageModelV4({ doStream: async () => ({ stream }) });
    const reply = aiSdk(model).stream({ transcript: [prompt], signal: stop.signal });
    for await (const delta of reply) if (delta.op === "append_text") stop.abort();

    expect((await reply.result).stop).toBe("aborted");
    await cancelled.promise;
  });

  test("is a failure with a cause when the model throws what is no error", async () => {
    const odd = new MockLanguageModelV4({
      doStream: () => Promise.reject(Object.freeze({ strange: true })),
    });

    expect(await replyTo(odd)).toMatchObject({ stop: "failed", cause: { code: "provider_error" } });
  });
});

describe("the request to an AI SDK model", () => {
  test("has the settings under their own names, and they don't replace what we say", async () => {
    const model = mock(finish("stop", "stop"));

    await aiSdk(model).stream({
      transcript: [prompt],
      instructions: "be brief",
      tools: [{ name: "look", input: { type: "object" } }],
      settings: {
        temperature: 0.5,
        prompt: [],
        providerOptions: { acme: { a: 1 } },
        tools: [{ type: "provider", id: "acme.search", name: "search", args: {} }],
      },
    }).result;

    const options = model.doStreamCalls[0];
    expect(options).toMatchObject({
      temperature: 0.5,
      providerOptions: { acme: { a: 1 } },
      tools: [
        { type: "function", name: "look", inputSchema: { type: "object" } },
        { type: "provider", id: "acme.search" },
      ],
      prompt: [
        { role: "system", content: "be brief" },
        { role: "user", content: [{ type: "text", text: "go" }] },
      ],
    });
    expect(options?.abortSignal).toBeInstanceOf(AbortSignal);
  });

  test("gives addresses only of files that the model fetches", async () => {
    const model = new MockLanguageModelV4({
      supportedUrls: { "image/*": [/^https:\/\/a\.test\//] },
      doStream: async () => ({ stream: convertArrayToReadableStream([finish("stop", "stop")]) }),
    });
    const media = (id: string, mediaType: string, url: string): Item["parts"][number] => ({
      kind: "media",
      id: partId(id),
      mediaType,
      url,
    });

    await replyTo(model, [
      {
        ...prompt,
        parts: [
          media("p1", "image/png", "https://a.test/1"),
          media("p2", "image/png", "https://b.test/2"),
          media("p3", "audio/mp3", "https://a.test/3"),
          media("p4", "image/png", "not an address"),
        ],
      },
    ]);

    expect(promptOf(model)[0]?.content).toEqual([
      {
        type: "file",
        mediaType: "image/png",
        data: { type: "url", url: new URL("https://a.test/1") },
      },
      { type: "text", text: "[file image/png at https://b.test/2]" },
      { type: "text", text: "[file audio/mp3 at https://a.test/3]" },
      { type: "text", text: "[file image/png at not an address]" },
    ]);
  });

  test("has the pictures that a tool made behind its result", async () => {
    const model = mock(finish("stop", "stop"));
    const call: Item = {
      id: itemId("m1"),
      author: "model",
      stop: "tools",
      parts: [
        {
          kind: "tool_call",
          id: partId("p1"),
          callId: "c1" as never,
          tool: "draw",
          raw: "{}",
          input: {},
        },
      ],
    };
    const answer: Item = {
      id: itemId("t1"),
      author: "tool",
      stop: "end",
      parts: [
        {
          kind: "tool_result",
          id: partId("r"),
          callId: "c1" as never,
          tool: "draw",
          status: "denied",
          text: "no",
        },
        { kind: "media", id: partId("m"), mediaType: "image/png", bytes: new Uint8Array([1]) },
      ],
    };

    await replyTo(model, [prompt, call, answer]);

    expect(promptOf(model).slice(2)).toEqual([
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "c1",
            toolName: "draw",
            output: { type: "execution-denied", reason: "no" },
          },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "file",
            mediaType: "image/png",
            data: { type: "data", data: new Uint8Array([1]) },
          },
        ],
      },
    ]);
  });
});
