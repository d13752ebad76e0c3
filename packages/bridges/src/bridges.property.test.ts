import { emptyDraft, fold } from "@millrace/core";
import { checkTranscript, itemId, partId, repairTranscript } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import type { Ending } from "@millrace/core/writing";
import { convertArrayToReadableStream } from "ai/test";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { runs } from "../../../tests/kit/runs.ts";
import { patience } from "../../../tests/kit/patience.ts";
import { sketch, written } from "./testing/updates.ts";
import { aiSdk, fromAiSdk, toAiSdk } from "./ai-sdk.ts";
import type { AiSdkMessage, AiSdkModel } from "./ai-sdk.ts";
import { fromLangGraph } from "./langgraph.ts";
import type { LangGraphEvent } from "./langgraph.ts";
import { fromOpenaiAgents } from "./openai-agents.ts";

vi.setConfig({ testTimeout: patience });

const prompt: Item = {
  id: itemId("u1"),
  author: "user",
  stop: "end",
  parts: [{ kind: "text", id: partId("p1"), text: "go" }],
};

/** Any text, including lone surrogates. */
const text = fc.string({
  unit: fc.constantFrom("a", "{", '"', "}", "é", "\ud83d", "\ude80"),
  maxLength: 6,
});
const id = fc.constantFrom("0", "1", "", "\ud83d");
const json = fc.jsonValue({ maxDepth: 1 });
const odd = fc.oneof(text, fc.integer(), fc.constant(null), fc.constant(undefined), json);
const orOdd = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 9, arbitrary: value }, { weight: 1, arbitrary: odd });

/** Parts of the AI SDK, of both of its layers, in any order and with fields of any type. */
const part = fc.record(
  {
    type: fc.constantFrom(
      "text-start",
      "text-delta",
      "text-end",
      "reasoning-start",
      "reasoning-delta",
      "reasoning-end",
      "tool-input-start",
      "tool-input-delta",
      "tool-input-end",
      "tool-call",
      "tool-result",
      "tool-error",
      "tool-output-denied",
      "file",
      "source",
      "custom",
      "raw",
      "finish",
      "start-step",
      "finish-step",
      "error",
      "abort",
      "start",
      "response-metadata",
      "tool-approval-request",
      "new-thing",
    ),
    id: orOdd(id),
    toolCallId: orOdd(id),
    toolName: orOdd(text),
    delta: orOdd(text),
    text: orOdd(text),
    input: orOdd(text),
    output: odd,
    result: odd,
    error: odd,
    mediaType: orOdd(text),
    data: orOdd(fc.oneof(fc.constant("AQID"), fc.uint8Array())),
    providerExecuted: fc.boolean(),
    preliminary: fc.boolean(),
    providerMetadata: orOdd(fc.dictionary(text, fc.dictionary(text, json))),
    inputEncoding: fc.constantFrom("json", "text"),
    finishReason: orOdd(
      fc.oneof(
        fc.constantFrom("stop", "tool-calls", "length", "other"),
        fc.record({ unified: fc.constantFrom("stop", "tool-calls", "length", "other"), raw: odd }),
      ),
    ),
    usage: odd,
  },
  { requiredKeys: ["type"] },
);

const call = fc.record({
  id: orOdd(id),
  name: orOdd(text),
  args: orOdd(text),
  index: orOdd(fc.nat(2)),
});
const chunk = fc.record(
  {
    content: orOdd(
      fc.oneof(text, fc.array(fc.record({ type: fc.constantFrom("text", "thinking", "x"), text }))),
    ),
    tool_call_chunks: fc.array(call, { maxLength: 3 }),
    tool_calls: fc.array(call, { maxLength: 3 }),
    messages: fc.array(fc.record({ tool_call_id: orOdd(id), content: odd, status: odd })),
    response_metadata: orOdd(
      fc.record({ finish_reason: orOdd(fc.constantFrom("stop", "length")) }),
    ),
    tool_call_id: orOdd(id),
  },
  { requiredKeys: [] },
);
const graphEvent: fc.Arbitrary<LangGraphEvent> = fc.record({
  event: fc.constantFrom(
    "on_chain_start",
    "on_chat_model_start",
    "on_chat_model_stream",
    "on_chat_model_end",
    "on_tool_start",
    "on_tool_end",
    "on_tool_error",
    "on_chain_end",
    "on_chain_stream",
  ),
  name: text,
  run_id: fc.constantFrom("r1", "r2"),
  data: fc.record({
    chunk: orOdd(chunk),
    output: orOdd(chunk),
    input: odd,
    error: odd,
  }),
  metadata: fc.record({ langgraph_checkpoint_ns: fc.constantFrom("a", "b", "a|b") }),
});

const outputItem = fc.record(
  {
    type: fc.constantFrom(
      "message",
      "function_call",
      "reasoning",
      "hosted_tool_call",
      "function_call_result",
    ),
    id: orOdd(id),
    callId: orOdd(id),
    name: orOdd(text),
    arguments: orOdd(text),
    output: odd,
    content: orOdd(fc.array(fc.record({ type: fc.constantFrom("output_text", "refusal"), text }))),
  },
  { requiredKeys: ["type"] },
);
const agentsEvent = fc.oneof(
  fc.record({
    type: fc.constant("raw_model_stream_event"),
    data: fc.oneof(
      fc.record({ type: fc.constant("output_text_delta"), itemId: orOdd(id), delta: orOdd(text) }),
      fc.record({ type: fc.constant("response_started") }),
      fc.record({
        type: fc.constant("model"),
        event: fc.record({
          choices: fc.array(
            fc.record({
              index: fc.constant(0),
              finish_reason: orOdd(fc.constantFrom("stop", null)),
              delta: fc.record({
                tool_calls: fc.array(
                  fc.record({
                    index: fc.nat(2),
                    id: orOdd(id),
                    function: fc.record({ name: orOdd(text), arguments: orOdd(text) }),
                  }),
                ),
              }),
            }),
            { maxLength: 1 },
          ),
        }),
      }),
      fc.record({
        type: fc.constant("response_done"),
        response: fc.record({ output: orOdd(fc.array(outputItem, { maxLength: 3 })), usage: odd }),
      }),
    ),
  }),
  fc.record({
    type: fc.constant("run_item_stream_event"),
    name: fc.constantFrom("tool_output", "tool_called", "tool_approval_requested"),
    item: fc.record({ rawItem: outputItem, output: odd }),
  }),
);

async function* each<Value>(values: readonly Value[]): AsyncGenerator<Value> {
  yield* values;
}

function model(parts: readonly object[]): AiSdkModel {
  return {
    specificationVersion: "v4",
    provider: "any",
    modelId: "any",
    supportedUrls: {},
    doStream: async () => ({ stream: convertArrayToReadableStream([...parts]) }),
  };
}

describe("whatever a framework streams", () => {
  test("a model of the AI SDK gives legal deltas and an ending that is true", async () => {
    let whole = 0;
    const done = { type: "finish", finishReason: { unified: "stop", raw: "stop" } };
    const ended = fc
      .tuple(fc.array(part, { maxLength: 24 }), fc.boolean())
      .map(([parts, isEnded]) => (isEnded ? [...parts, done] : parts));
    const property = fc.asyncProperty(ended, async (parts) => {
      const stream = aiSdk(model(parts)).stream({ transcript: [prompt] });
      let draft = emptyDraft();
      for await (const delta of stream) draft = fold(draft, delta);
      const reply = await stream.result;
      expect(draft.fault).toBeUndefined();
      const finished = parts.some(({ type }) => type === "finish");
      const failed = parts.some(({ type }) => type === "error");
      if (reply.cause === undefined) {
        whole += 1;
        expect([finished, failed]).toEqual([true, false]);
      }
      expectNoSlip(reply);
      const item: Item = { id: itemId("m1"), author: "model", ...reply };
      expectPaired(toAiSdk([prompt, item]));
    });
    const numRuns = runs(400, 40_000, 150);
    await fc.assert(property, { numRuns });
    console.log(
      `count: any parts of an AI SDK model, ${numRuns} streams, ${whole} whole, 0 failures`,
    );
  });

  test.each([
    [
      "streamText",
      part,
      (values: readonly unknown[]) => fromAiSdk({ stream: each(values as { type: string }[]) }),
    ],
    [
      "the Agents SDK",
      agentsEvent,
      (values: readonly unknown[]) => fromOpenaiAgents(each(values as { type: string }[])),
    ],
    [
      "LangGraph",
      graphEvent,
      (values: readonly unknown[]) => fromLangGraph(each(values as LangGraphEvent[])),
    ],
  ] as const)(
    "a run of %s gives legal updates, and items that a request can be made of",
    async (name, arbitrary, bridge) => {
      let items = 0;
      const property = fc.asyncProperty(
        fc.array<unknown>(arbitrary as fc.Arbitrary<unknown>, { maxLength: 24 }),
        async (values) => {
          const run = await written(bridge(values));
          items += run.items.length;
          run.items.forEach(expectNoSlip);
          const { items: repaired } = repairTranscript([prompt, ...run.items]);
          expect(checkTranscript(repaired)).toEqual([]);
          expectPaired(toAiSdk([prompt, ...run.items]));
        },
      );
      const numRuns = runs(400, 40_000, 150);
      await fc.assert(property, { numRuns });
      console.log(`count: any events of ${name}, ${numRuns} runs, ${items} items, 0 failures`);
    },
  );

  test("text comes out as it went in, however it is cut", async () => {
    const property = fc.asyncProperty(fc.array(text, { maxLength: 12 }), async (chunks) => {
      const parts = [
        { type: "start-step" },
        { type: "text-start", id: "0" },
        ...chunks.map((delta) => ({ type: "text-delta", id: "0", text: delta })),
        { type: "text-end", id: "0" },
        { type: "finish-step", finishReason: "stop" },
        { type: "finish" },
      ];

      const { items } = await written(fromAiSdk({ stream: each(parts) }));

      expect(items.map((item) => sketch(item.parts))).toEqual([
        [`text: ${chunks.join("").toWellFormed()}`],
      ]);
    });
    const numRuns = runs(300, 30_000, 150);
    await fc.assert(property, { numRuns });
    console.log(`count: text through a bridge is kept, ${numRuns} texts, 0 failures`);
  });
});

/** An error of the bridge itself would look like one of the framework. */
function expectNoSlip({ cause }: Ending): void {
  expect(JSON.stringify(cause?.evidence ?? null)).not.toMatch(/"(?:Type|Range|Millrace)Error"/);
}

/** Each call is answered once, directly after its message. */
function expectPaired(messages: readonly AiSdkMessage[]): void {
  for (const [at, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    const calls = message.content.flatMap((each) =>
      each.type === "tool-call" && each.providerExecuted !== true ? [each.toolCallId] : [],
    );
    const next = messages[at + 1];
    const answers = next?.role === "tool" ? next.content.map(({ toolCallId }) => toolCallId) : [];
    expect(answers).toEqual(calls);
  }
}
