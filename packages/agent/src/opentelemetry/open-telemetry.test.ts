import { context, diag, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  InMemorySpanExporter,
  SimpleSpanProcessor,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { inputId, sessionId } from "@millrace/core/writing";
import type { RunEvent, Usage } from "@millrace/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  append,
  begin,
  call,
  epochOf,
  Facts,
  item,
  live,
  opened,
  reply,
  run,
  text,
  turn,
} from "../observe/testing/events.ts";
import { openTelemetry } from "./index.ts";
import type { OpenTelemetryOptions } from "./index.ts";

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer("test");
const manager = new AsyncLocalStorageContextManager();

beforeAll(() => void context.setGlobalContextManager(manager.enable()));
afterAll(() => context.disable());

const ids = { runId: run, turnId: turn };
const usage: Usage = {
  inputTokens: 100,
  outputTokens: 7,
  cachedTokens: 40,
  reasoningTokens: 3,
  cacheWriteTokens: 5,
};
const canary = "CANARY-7f3a";

/** The spans that these events export, in the order of their ends. */
function spansOf(
  events: readonly RunEvent[],
  options: OpenTelemetryOptions = {},
): readonly ReadableSpan[] {
  exporter.reset();
  const observe = openTelemetry({ tracer, ...options });
  for (const event of events) observe(event);
  return exporter.getFinishedSpans();
}

function named(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  const found = spans.find((span) => span.name === name);
  if (found === undefined)
    throw new Error(`no span ${name} among ${spans.map((span) => span.name).join(", ")}`);
  return found;
}

function ms([seconds, nanos]: readonly [number, number]): number {
  return seconds * 1_000 + nanos / 1e6;
}

/** A run with a failed attempt, a reply that calls a tool, and an answer; content all over it. */
function story(): readonly RunEvent[] {
  const facts = new Facts();
  const tool = { callId: call, tool: "search" };
  const at = (time: number) => ({ time });
  const closes = epochOf(1, 9);
  const second = { generation: 3, item: "item_3", lane: 0 };
  return [
    facts.make(
      {
        type: "input_accepted",
        inputId: inputId("i"),
        input: { kind: "prompt", parts: [text(canary)] },
      },
      at(1),
    ),
    facts.make({ type: "run_started", runId: run }, at(1_000)),
    facts.make(
      { type: "item_committed", item: item([text(canary)], { author: "user" }), ...ids },
      at(1_001),
    ),
    facts.make({ type: "turn_started", ...ids }, at(1_002)),
    opened({ time: 1_010 }),
    facts.make(
      {
        type: "usage_reported",
        ...ids,
        epoch: epochOf(1),
        usage: { inputTokens: 9, outputTokens: 0, cachedTokens: 0 },
      },
      at(1_040),
    ),
    live(
      { type: "retry_scheduled", cause: { code: "overloaded", message: canary }, delayMs: 50 },
      { time: 1_050 },
    ),
    opened({ attempt: 2, time: 1_100 }),
    begin("text", { attempt: 2, time: 1_350 }),
    append(canary, { attempt: 2, time: 1_400 }),
    facts.make(
      {
        type: "item_committed",
        item: item([text(canary)], { stop: "tools", usage, model: "openai-chat/gpt-5-0901" }),
        lane: 0,
        epoch: epochOf(2),
        ...ids,
      },
      at(1_500),
    ),
    facts.make({ type: "usage_reported", ...ids, epoch: epochOf(2), usage }, at(1_500)),
    facts.make(
      {
        type: "approval_requested",
        ...ids,
        ...tool,
        approvalId: "a" as never,
        input: { q: canary },
        hash: "h",
      },
      at(1_510),
    ),
    facts.make(
      {
        type: "approval_resolved",
        approvalId: "a" as never,
        callId: call,
        decision: "allow",
        reason: canary,
      },
      at(1_520),
    ),
    facts.make(
      {
        type: "tool_execution_started",
        ...ids,
        ...tool,
        input: { q: canary },
        itemId: "item_2" as never,
        lane: 1,
        epoch: epochOf(1, 2),
      },
      at(1_600),
    ),
    live(
      { type: "attempt_started", author: "tool", ...tool },
      { lane: 1, generation: 2, item: "item_2", time: 1_600 },
    ),
    live(
      { type: "tool_execution_update", callId: call, message: canary },
      { lane: 1, generation: 2, item: "item_2", time: 1_650 },
    ),
    facts.make(
      {
        type: "item_committed",
        item: item(
          [
            {
              kind: "tool_result",
              id: "r" as never,
              ...tool,
              status: "ok",
              text: canary,
              output: { found: canary },
            },
          ],
          { id: "item_2" as never, author: "tool" },
        ),
        lane: 1,
        epoch: epochOf(1, 2),
        ...ids,
      },
      at(1_700),
    ),
    facts.make({ type: "tool_execution_finished", ...ids, ...tool, status: "ok" }, at(1_700)),
    facts.make({ type: "turn_finished", ...ids, stop: "tools", closes: epochOf(2, 2) }, at(1_710)),
    facts.make({ type: "turn_started", ...ids }, at(1_711)),
    live(
      { type: "attempt_started", author: "model", model: "anthropic-messages/claude-9" },
      { ...second, time: 1_720 },
    ),
    live({ type: "stalled", silentMs: 20 }, { ...second, time: 1_740 }),
    begin("text", { ...second, time: 1_750 }),
    facts.make(
      {
        type: "item_committed",
        item: item([text(canary)], { id: "item_3" as never, stop: "end" }),
        lane: 0,
        epoch: epochOf(1, 3),
        ...ids,
      },
      at(1_800),
    ),
    facts.make(
      {
        type: "usage_reported",
        ...ids,
        epoch: epochOf(1, 3),
        usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
      },
      at(1_801),
    ),
    facts.make({ type: "turn_finished", ...ids, stop: "end", closes }, at(1_802)),
    facts.make({ type: "run_finished", runId: run, outcome: "completed", closes }, at(2_000)),
  ];
}

test("a run, its attempts and its executions are spans by the conventions' names", () => {
  const spans = spansOf(story(), { agent: "travel" });

  const agent = named(spans, "invoke_agent travel");
  const [failed, asked] = spans.filter((span) => span.name === "chat gpt-5");
  const answered = named(spans, "chat claude-9");
  const tool = named(spans, "execute_tool search");
  expect(spans).toHaveLength(5);
  expect(agent.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "travel",
    "gen_ai.conversation.id": "s",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.usage.input_tokens": 110,
    "gen_ai.usage.output_tokens": 8,
    "gen_ai.response.finish_reasons": ["stop"],
    "millrace.run.outcome": "completed",
  });
  expect(failed?.attributes).toMatchObject({
    "error.type": "overloaded",
    "gen_ai.usage.input_tokens": 9,
  });
  expect(failed?.status.code).toBe(2);
  expect(asked?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.model": "gpt-5",
    "gen_ai.response.model": "gpt-5-0901",
    "gen_ai.request.stream": true,
    "gen_ai.response.finish_reasons": ["tool_call"],
    "gen_ai.response.time_to_first_chunk": 0.25,
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.cache_read.input_tokens": 40,
    "gen_ai.usage.cache_creation.input_tokens": 5,
    "gen_ai.usage.reasoning.output_tokens": 3,
  });
  expect(asked?.status.code).toBe(0);
  expect(answered.attributes).toMatchObject({ "gen_ai.usage.input_tokens": 1 });
  expect(answered.events.map(({ name }) => name)).toEqual(["millrace.stalled"]);
  expect(tool.attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "search",
    "gen_ai.tool.call.id": "call_1",
  });
  expect(agent.events.map(({ name }) => name)).toEqual([
    "millrace.approval_requested",
    "millrace.approval_resolved",
  ]);
  for (const span of [failed, asked, answered, tool]) {
    expect(span?.parentSpanContext?.spanId).toBe(agent.spanContext().spanId);
  }
});

test("the times of spans are those of their events", () => {
  const spans = spansOf(story());
  const times = spans.map(({ name, startTime, endTime }) => [name, ms(startTime), ms(endTime)]);

  expect(times).toEqual([
    ["chat gpt-5", 1_010, 1_050],
    ["chat gpt-5", 1_100, 1_500],
    ["execute_tool search", 1_600, 1_700],
    ["chat claude-9", 1_720, 1_800],
    ["invoke_agent", 1_000, 2_000],
  ]);
});

test("no word of a prompt, an answer, a tool or an error is in a span, unless asked for", () => {
  const everything = (spans: readonly ReadableSpan[]): string =>
    JSON.stringify(
      spans.map(({ name, attributes, events, status, links, resource }) => ({
        name,
        attributes,
        events,
        status,
        links,
        resource: resource.attributes,
      })),
    );

  expect(everything(spansOf(story()))).not.toContain(canary);
  const spans = spansOf(story(), { content: true });
  expect(JSON.stringify(named(spans, "execute_tool search").attributes)).toContain(canary);
  expect(
    JSON.parse(String(named(spans, "chat claude-9").attributes["gen_ai.output.messages"])),
  ).toEqual([{ role: "assistant", parts: [{ type: "text", content: canary }] }]);
  expect(
    JSON.parse(String(named(spans, "invoke_agent").attributes["gen_ai.input.messages"])),
  ).toEqual([{ role: "user", parts: [{ type: "text", content: canary }] }]);
  expect(spans[0]?.status.message).toBe(canary);
});

test("the span that is active when the run starts is its parent, and the caller's trace goes on", () => {
  const caller = trace.setSpanContext(context.active(), {
    traceId: "0af7651916cd43dd8448eb211c80319c",
    spanId: "b7ad6b7169203331",
    traceFlags: 1,
    isRemote: true,
  });
  const [first, second, ...rest] = story() as [RunEvent, RunEvent, ...RunEvent[]];
  exporter.reset();
  const observe = openTelemetry({ tracer });

  observe(first);
  context.with(caller, () => observe(second));
  for (const event of rest) observe(event);

  const spans = exporter.getFinishedSpans();
  expect(named(spans, "invoke_agent").parentSpanContext?.spanId).toBe("b7ad6b7169203331");
  for (const span of spans)
    expect(span.spanContext().traceId).toBe("0af7651916cd43dd8448eb211c80319c");
});

test("a sub-agent's run belongs to the execution that called it", () => {
  const facts = new Facts();
  const child = { session: "child" };
  const closes = epochOf(1, 9);
  const spans = spansOf([
    facts.make({ type: "run_started", runId: run }),
    facts.make({
      type: "tool_execution_started",
      ...ids,
      callId: call,
      tool: "packer",
      input: {},
      itemId: reply,
      lane: 1,
      epoch: epochOf(1),
      childSessionId: sessionId("child"),
    }),
    facts.make({ type: "run_started", runId: run }, child),
    opened(child),
    facts.make({ type: "run_finished", runId: run, outcome: "completed", closes }, child),
    facts.make({
      type: "tool_execution_finished",
      ...ids,
      callId: call,
      tool: "packer",
      status: "failed",
    }),
    facts.make({ type: "run_finished", runId: run, outcome: "completed", closes }),
  ]);

  const tool = named(spans, "execute_tool packer");
  const inner = spans.find(
    ({ attributes, name }) =>
      name === "invoke_agent" && attributes["gen_ai.conversation.id"] === "child",
  );
  expect(inner?.parentSpanContext?.spanId).toBe(tool.spanContext().spanId);
  expect(tool.attributes["error.type"]).toBe("tool_failed");
  expect(tool.status.code).toBe(2);
});

test("an abort ends everything that is open, and is no error", () => {
  const facts = new Facts();
  const closes = epochOf(1, 9);
  const cause = { code: "aborted", message: "stopped by its user" };
  const spans = spansOf([
    facts.make({ type: "run_started", runId: run }),
    opened(),
    facts.make(
      {
        type: "item_committed",
        item: item([], { stop: "aborted", cause }),
        lane: 0,
        epoch: epochOf(1),
        ...ids,
      },
      { time: 5 },
    ),
    facts.make({ type: "run_finished", runId: run, outcome: "aborted", closes }, { time: 9 }),
  ]);

  expect(spans.map(({ name, status, endTime }) => [name, status.code, ms(endTime)])).toEqual([
    ["chat gpt-5", 0, 5],
    ["invoke_agent", 0, 9],
  ]);
  expect(spans[0]?.attributes["gen_ai.response.finish_reasons"]).toEqual(["aborted"]);
});

test("a run that failed says by which code", () => {
  const facts = new Facts();
  const cause = { code: "invalid_key", message: canary };
  const [agent] = spansOf([
    facts.make({ type: "run_started", runId: run }),
    facts.make({ type: "run_finished", runId: run, outcome: "failed", cause, closes: 1 }),
  ]);

  expect(agent?.attributes["error.type"]).toBe("invalid_key");
  expect(agent?.status).toEqual({ code: 2 });
});

test("an attempt that another one replaces, or a claim, is ended as superseded", () => {
  const facts = new Facts();
  const spans = spansOf([
    facts.make({ type: "run_started", runId: run }),
    opened({ time: 1 }),
    opened({ attempt: 2, time: 2 }),
    facts.make({ type: "session_claimed", incarnation: 2 }, { time: 3 }),
  ]);

  expect(spans.map(({ attributes, endTime }) => [attributes["error.type"], ms(endTime)])).toEqual([
    ["superseded", 2],
    ["superseded", 3],
  ]);
});

test("a run that is gone on with after a crash has a span, marked as resumed", () => {
  const facts = new Facts();
  const closes = epochOf(1, 9);
  const spans = spansOf([
    opened({ time: 5 }),
    facts.make({ type: "run_finished", runId: run, outcome: "completed", closes }, { time: 8 }),
  ]);

  expect(named(spans, "invoke_agent").attributes["millrace.run.resumed"]).toBe(true);
  expect(ms(named(spans, "invoke_agent").startTime)).toBe(5);
});

test("disposing ends what is under way, and a clock that goes back makes no negative time", () => {
  const facts = new Facts();
  const warned: unknown[] = [];
  const warn = (...words: readonly unknown[]): void => void warned.push(words);
  diag.setLogger({ warn, error: warn, info: warn, debug: warn, verbose: warn });
  exporter.reset();
  {
    using observe = openTelemetry({ tracer });
    observe(facts.make({ type: "run_started", runId: run }, { time: 1_000 }));
    observe(opened({ time: 900 }));
  }
  const spans = exporter.getFinishedSpans();
  diag.disable();

  expect(warned.filter((words) => /time/i.test(String(words)))).toEqual([]);
  expect(spans.map(({ name, startTime, endTime }) => [name, ms(endTime) - ms(startTime)])).toEqual([
    ["chat gpt-5", 0],
    ["invoke_agent", 0],
  ]);
  expect(spans[1]?.attributes["error.type"]).toBe("interrupted");
});

test("without a provider nothing is made and nothing fails", () => {
  const observe = openTelemetry();

  expect(() => {
    for (const event of story()) observe(event);
  }).not.toThrow();
});
