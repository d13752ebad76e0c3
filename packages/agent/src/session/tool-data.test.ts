import { call, say, scriptedModel } from "@millrace/core/testing";
import type { JsonOf } from "@millrace/core/wire";
import { expect, test } from "vitest";
import { z } from "zod";
import { defineAgent } from "../define/define-agent.ts";
import { defineTool } from "../definition/tool.ts";
import type { Tool } from "../definition/tool.ts";

const none = z.object({});
const day = "2026-01-01";

test("events, questions and views have what the model sent; the tool and its policy get what the schema made of it", async () => {
  const got: unknown[] = [];
  const book = defineTool({
    name: "book",
    input: z.object({
      day: z.string().transform((text) => new Date(text)),
      seats: z.int().default(1),
    }),
    approve: ({ day: parsed, seats }) => (got.push(parsed.getTime(), seats), "ask"),
    run: ({ day: parsed, seats }) => (got.push(parsed.getTime(), seats), parsed),
  });
  const seen: { readonly day: string; readonly seats?: number }[] = [];
  const model = scriptedModel([[call("book", { day })], [say("Done.")]]);
  await using session = await defineAgent({ model, tools: [book] }).open();

  const run = session.send("Book a table.", {
    ask: ({ input }) => (seen.push(input), input.day === day ? "allow" : "deny"),
  });
  for await (const event of run) {
    if (event.type === "approval_requested") seen.push(event.input);
    if (event.type === "tool_execution_started") seen.push(event.input);
  }
  for await (const event of run.narrate()) {
    if (event.type === "approval_requested") seen.push(event.input);
    if (event.type === "tool_execution_started") seen.push(event.input);
  }
  for (const part of session.items.flatMap(({ parts }) => parts)) {
    if (part.kind === "tool_call" && part.state === "finished") seen.push(part.input);
  }

  expect(seen).toStrictEqual(Array.from({ length: 6 }, () => ({ day })));
  const time = new Date(day).getTime();
  expect(got).toStrictEqual([time, 1, time, 1]);
});

/** Runs a tool once. Its output as an event, its narration, a view, an item and a request have it. */
async function outputsOf<Out>(tool: Tool<"tool", never, Out>): Promise<{
  readonly event: unknown;
  readonly narrated: unknown;
  readonly view: unknown;
  readonly item: unknown;
  readonly request: unknown;
}> {
  const model = scriptedModel([[call("tool", {})], [say("Done.")]]);
  let request: unknown;
  const agent = defineAgent({
    model,
    tools: [tool],
    hooks: {
      beforeReply: (sent) => {
        const parts = sent.transcript.flatMap((item) => item.parts);
        request = parts.find((part) => part.kind === "tool_result")?.text;
        return sent;
      },
    },
  });
  await using session = await agent.open();
  const run = session.send("Go.");
  let event: unknown;
  for await (const one of run) if (one.type === "tool_execution_finished") event = one.output;
  let narrated: unknown;
  for await (const one of run.narrate())
    if (one.type === "tool_execution_finished") narrated = one.output;
  const shown = session.items
    .flatMap(({ parts }) => parts)
    .find((part) => part.kind === "tool_call");
  const stored = session.transcript.flatMap(({ parts }) => parts);
  return {
    event,
    narrated,
    view: shown?.kind === "tool_call" && shown.state === "finished" ? shown.output : undefined,
    item: stored.find((part) => part.kind === "tool_result"),
    request,
  };
}

const kinds = {
  "a Date": [() => ({ at: new Date(0) }), { at: "1970-01-01T00:00:00.000Z" }],
  "a Set": [() => ({ tags: new Set(["a"]) }), { tags: ["a"] }],
  "a Map": [() => new Map([["a", 1]]), [["a", 1]]],
  "a bigint": [() => ({ n: 2n ** 60n }), { n: "1152921504606846976" }],
  "an undefined field": [() => ({ a: 1, b: undefined }), { a: 1 }],
  "a function": [() => ({ a: 1, more: () => 2 }), { a: 1 }],
  null: [() => null, null],
} as const satisfies Record<string, readonly [() => unknown, unknown]>;

test.each(Object.entries(kinds))(
  "an output with %s arrives as its JSON in events, narrations, views and items, and reaches the model",
  async (_, [run, json]) => {
    const tool = defineTool({ name: "tool", input: none, run: (): unknown => run() });

    const { event, narrated, view, item, request } = await outputsOf(tool);

    expect(event).toStrictEqual(json);
    expect(narrated).toStrictEqual(json);
    expect(view).toStrictEqual(json);
    expect(item).toMatchObject({ status: "ok", output: json });
    expect(request).toBe(JSON.stringify(json));
  },
);

test("the output of a tool that returns nothing is the text that it appended", async () => {
  const tool = defineTool({ name: "tool", input: none, run: (_, { append }) => append("a line") });

  const { event, view, request } = await outputsOf(tool);

  expect([event, view, request]).toStrictEqual(["a line", "a line", "a line"]);
});

test("the model gets what a tool returned beside what it appended", async () => {
  const build = defineTool({
    name: "tool",
    input: none,
    run: (_, { append }) => {
      append("line 1\n");
      append("line 2\n");
      return { exitCode: 3 };
    },
  });

  const { event, view, request } = await outputsOf(build);

  expect(request).toBe('line 1\nline 2\n{"exitCode":3}');
  expect([event, view]).toStrictEqual([{ exitCode: 3 }, { exitCode: 3 }]);
});

test("a tool whose result JSON can't hold has failed: no view shows an output that is not there", async () => {
  const tool = defineTool({ name: "tool", input: none, run: () => ({ mean: Number.NaN }) });

  const { event, narrated, view, item, request } = await outputsOf(tool);

  expect(narrated).toBeUndefined();
  expect(item).toMatchObject({ status: "failed" });
  expect([event, view]).toStrictEqual([undefined, undefined]);
  expect(request).toContain("it ran, but JSON can't hold what it returned: NaN at mean");
});

test("the output is what the output schema made, of a function's result and of a client's answer", async () => {
  const output = z.object({
    at: z.string().transform((text) => new Date(text)),
    seats: z.int().default(1),
  });
  const tool = defineTool({ name: "tool", input: none, output, run: () => ({ at: day }) });
  const json: JsonOf<z.output<typeof output>> = { at: `${day}T00:00:00.000Z`, seats: 1 };

  expect((await outputsOf(tool)).event).toStrictEqual(json);

  const client = defineTool({ name: "client", input: none, output, run: "client" });
  const model = scriptedModel([[call("client", {})], [say("Done.")]]);
  await using session = await defineAgent({ model, tools: [client] }).open();
  const run = session.send("Go.");
  const { callId } = await run.until("tool_execution_started");
  session.answer(callId, { at: day });
  const finished = await run.until("tool_execution_finished");

  expect(finished.output).toStrictEqual(json);
});
