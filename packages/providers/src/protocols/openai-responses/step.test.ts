import type { Json, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import type { VendorEvent } from "../../framing/framing.ts";
import { sseFraming } from "../../framing/sse.ts";
import { decode, plainContext } from "../../testing/decode.ts";
import { bytesOf, recordedStreams } from "../../testing/fixtures.ts";
import { testFixtures } from "../../testing/golden.ts";
import { openaiResponsesProtocol } from "./protocol.ts";
import type { ResponsesState } from "./protocol.ts";

const eventTypes = [
  "response.created",
  "response.queued",
  "response.in_progress",
  "response.completed",
  "response.incomplete",
  "response.failed",
  "error",
  "response.output_item.added",
  "response.output_item.done",
  "response.content_part.added",
  "response.content_part.done",
  "response.output_text.delta",
  "response.output_text.done",
  "response.output_text.annotation.added",
  "response.refusal.delta",
  "response.refusal.done",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_part.done",
  "response.reasoning_summary_text.delta",
  "response.reasoning_summary_text.done",
  "response.reasoning_text.delta",
  "response.reasoning_text.done",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.custom_tool_call_input.delta",
  "response.custom_tool_call_input.done",
  "response.mcp_call_arguments.delta",
  "response.mcp_call_arguments.done",
  "response.mcp_call.in_progress",
  "response.mcp_call.completed",
  "response.mcp_call.failed",
  "response.mcp_list_tools.in_progress",
  "response.mcp_list_tools.completed",
  "response.mcp_list_tools.failed",
  "response.web_search_call.in_progress",
  "response.web_search_call.searching",
  "response.web_search_call.completed",
  "response.file_search_call.in_progress",
  "response.file_search_call.searching",
  "response.file_search_call.completed",
  "response.code_interpreter_call.in_progress",
  "response.code_interpreter_call.interpreting",
  "response.code_interpreter_call.completed",
  "response.code_interpreter_call_code.delta",
  "response.code_interpreter_call_code.done",
  "response.image_generation_call.in_progress",
  "response.image_generation_call.generating",
  "response.image_generation_call.partial_image",
  "response.image_generation_call.completed",
  "response.shell_call_command.added",
  "response.shell_call_command.delta",
  "response.shell_call_command.done",
  "response.shell_call_output_content.delta",
  "response.shell_call_output_content.done",
  "response.compaction.compacting",
  "response.audio.delta",
  "response.audio.done",
  "response.audio.transcript.delta",
  "response.audio.transcript.done",
];

const numbered = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `R${at + 1}`);

testFixtures(openaiResponsesProtocol, [
  ...numbered(15),
  ...numbered(9).map((row) => row.replace("R", "R0")),
  // Both tables have rows with these two names.
  "bad:R10",
  "bad:R11",
  ...eventTypes.map((type) => `event:${type}`),
]);

const streams = new Map(
  recordedStreams(openaiResponsesProtocol.id).map(({ name, bytes }) => [name, bytes]),
);
const names: readonly string[] = [...streams.keys()];

function eventsOf(name: string): readonly VendorEvent[] {
  const framer = sseFraming().open();
  const bytes = streams.get(name) ?? new Uint8Array();
  return [...framer.feed(bytes), ...framer.end()].flatMap((framed) =>
    framed.kind === "event" ? [framed.event] : [],
  );
}

function statesOf(events: readonly VendorEvent[]): readonly ResponsesState[] {
  const states = [openaiResponsesProtocol.initial(plainContext)];
  for (const event of events) {
    const { state, sign, failure } = openaiResponsesProtocol.step(
      states.at(-1) as ResponsesState,
      event,
    );
    states.push(state);
    if (sign === "over" || failure !== undefined) break;
  }
  return states;
}

/** Freezes the state, except for the contents of maps. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  const inside = value instanceof Map ? value.values() : Object.values(value);
  for (const entry of inside) freeze(entry);
}

function bytesOfEvents(events: readonly JsonObject[]): Uint8Array {
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return new TextEncoder().encode(text);
}

const delta = (text: string, item = 0): JsonObject => ({
  type: "response.output_text.delta",
  item_id: `msg_${item}`,
  output_index: item,
  content_index: 0,
  delta: text,
});

describe("the fixtures", () => {
  test("contain each of the 59 events, as their scenarios say", () => {
    const found = new Set(
      names.flatMap((name) => eventsOf(name)).map(({ data }) => data?.["type"]),
    );
    const missing = eventTypes.filter((type) => !found.has(type));

    expect(new Set(eventTypes).size).toBe(59);
    expect(missing).toEqual([]);
  });

  test("give no unknown event but those that are there to be unknown", () => {
    const unknown = names.flatMap((name) => {
      const bytes = streams.get(name) ?? new Uint8Array();
      return decode(openaiResponsesProtocol, sseFraming(), [bytes]).unknown > 0 ? [name] : [];
    });

    expect(unknown).toEqual(["unknown-events"]);
  });
});

describe("a reply that is aborted", () => {
  test.each(names)("after any event of %s has no whole ending before the last", (name) => {
    const states = statesOf(eventsOf(name));

    for (const state of states.slice(0, -1)) {
      const { ending } = openaiResponsesProtocol.halt(state, { kind: "aborted" });
      expect(ending.stop).toBe("aborted");
    }
  });

  test("after its end stays whole", () => {
    const last = statesOf(eventsOf("text")).at(-1) as ResponsesState;

    expect(openaiResponsesProtocol.halt(last, { kind: "aborted" }).ending.stop).toBe("end");
    expect(openaiResponsesProtocol.halt(last, { kind: "eof" }).ending.stop).toBe("end");
  });

  test("keeps no evidence once reading has failed", () => {
    const last = statesOf(eventsOf("text")).at(-1) as ResponsesState;
    const cause = { code: "bad_json", message: "an event is no JSON object" };

    const { ending, usage } = openaiResponsesProtocol.halt(last, { kind: "failed", cause });

    expect(ending).toEqual({ stop: "failed", cause });
    expect(usage?.inputTokens).toBe(312);
  });

  test("cut before its end has no more runnable calls than ended call items", () => {
    let cuts = 0;
    for (const name of names) {
      const events = eventsOf(name).flatMap(({ data }) => (data === undefined ? [] : [data]));
      for (let count = 0; count < events.length; count += 1) {
        const seen = events.slice(0, count);
        const { draft } = decode(openaiResponsesProtocol, sseFraming(), [bytesOfEvents(seen)]);
        const runnable = draft.parts.filter(
          (part) =>
            part.state === "committed" && part.part.kind === "tool_call" && !part.part.fault,
        );
        const ended = seen.filter(({ type, item }) => {
          const kind = (item as JsonObject | undefined)?.["type"];
          const isCall = kind === "function_call" || kind === "custom_tool_call";
          return type === "response.output_item.done" && isCall;
        });
        if (seen.some(({ type }) => type === "response.completed")) continue;
        expect(runnable.length).toBeLessThanOrEqual(ended.length);
        cuts += 1;
      }
    }
    console.log(`count: cut replies run nothing unfinished, ${cuts} cuts, 0 failures`);
  });
});

describe("a step", () => {
  test.each(names)("of %s takes a frozen state and gives the same twice", (name) => {
    let state = openaiResponsesProtocol.initial(plainContext);
    for (const event of eventsOf(name)) {
      freeze(state);
      freeze(event);
      const once = openaiResponsesProtocol.step(state, event);
      const twice = openaiResponsesProtocol.step(state, event);

      expect(twice).toEqual(once);
      state = once.state;
      if (once.sign === "over" || once.failure !== undefined) break;
    }
  });

  test("of a text delta makes one operation and leaves the book as it is", () => {
    const started = statesOf(eventsOf("no-numbers").slice(0, 4)).at(-1) as ResponsesState;

    const { state, operations } = openaiResponsesProtocol.step(started, {
      name: "",
      data: delta("x"),
    });

    expect(operations).toEqual([{ op: "append_text", partId: "p1", chunk: "x" }]);
    expect(state).toBe(started);
  });

  test("of a numbered delta changes the number only", () => {
    const started = statesOf(eventsOf("text").slice(0, 4)).at(-1) as ResponsesState;
    const data = { ...delta("x"), sequence_number: 4 };

    const { state } = openaiResponsesProtocol.step(started, { name: "", data });

    expect(state.book).toBe(started.book);
    expect(state.sequence).toBe(4);
  });

  test("of 160,000 deltas of text and arguments makes as many operations and no new maps", () => {
    let state = statesOf(eventsOf("parallel-calls").slice(0, 5)).at(-1) as ResponsesState;
    const { items } = state.book;
    let operations = 0;
    for (let number = 0; number < 160_000; number += 1) {
      const data: JsonObject = {
        type: "response.function_call_arguments.delta",
        item_id: "fc",
        output_index: 0,
        delta: "a",
        sequence_number: state.sequence + 1,
      };
      const translated = openaiResponsesProtocol.step(state, { name: "", data });
      operations += translated.operations.length;
      state = translated.state;
    }

    expect(operations).toBe(160_000);
    expect(state.book.items).toBe(items);
  });
});

describe("limits", () => {
  test("more than 128 calls fail the reply", () => {
    const calls = Array.from({ length: 129 }, (_, at): JsonObject => {
      const item = {
        type: "function_call",
        id: `fc_${at}`,
        call_id: `c${at}`,
        name: "go",
        arguments: "{}",
      };
      return { type: "response.output_item.done", output_index: at, item };
    });

    const { draft, end } = decode(openaiResponsesProtocol, sseFraming(), [bytesOfEvents(calls)]);

    expect(draft.parts.length).toBe(128);
    expect(end.cause?.code).toBe("too_many_parts");
  });

  test("more than 1,000 parts fail the reply without a fault in the draft", () => {
    const deltas = Array.from({ length: 1_200 }, (_, at) => delta("x", at));

    const { draft, end } = decode(openaiResponsesProtocol, sseFraming(), [bytesOfEvents(deltas)]);

    expect(draft.fault).toBeUndefined();
    expect(end.cause?.code).toBe("too_many_parts");
  });

  test("an item that is nested too deep is replaced by its head", () => {
    let deep: Json = "x";
    for (let depth = 0; depth < 100; depth += 1) deep = [deep];
    const item = { type: "web_search_call", id: "ws_1", status: "completed", action: deep };
    const events = [
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { status: "completed", output: [] } },
    ];

    const { draft, end } = decode(openaiResponsesProtocol, sseFraming(), [bytesOfEvents(events)]);

    expect(end.stop).toBe("end");
    expect(draft.parts[0]).toMatchObject({
      part: { value: { type: "web_search_call", id: "ws_1", omitted: "too_deep" } },
    });
  });

  test("half characters in an item are mended", () => {
    const item = { type: "mcp_call", id: "mcp_1", status: "completed", output: "cut \ud83d" };
    const events = [
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: { status: "completed", output: [] } },
    ];

    const { draft, end } = decode(openaiResponsesProtocol, sseFraming(), [bytesOfEvents(events)]);

    expect(end.stop).toBe("end");
    expect(draft.parts[0]).toMatchObject({ part: { value: { output: "cut \ufffd" } } });
  });
});

describe("ids of calls", () => {
  test("that the transcript has already are given out under another name", () => {
    const context = { ...plainContext, takenCallIds: new Set(["call_7Hc0aWv3TqLm9Pz2Xy4Rk1Bd"]) };

    const { draft } = decode(
      openaiResponsesProtocol,
      sseFraming(),
      [bytesOf(openaiResponsesProtocol.id, "tool-call")],
      { context },
    );

    expect(draft.parts[1]).toMatchObject({
      part: { callId: "call_7Hc0aWv3TqLm9Pz2Xy4Rk1Bd_2" },
    });
  });
});

describe("values of wrong types", () => {
  const junk: readonly Json[] = [null, 5, "x", [], {}, [null], true, -1, { type: 7 }];
  const keys = ["item", "response", "delta", "output_index", "content_index", "part", "item_id"];

  test("in any field of any event never throw", () => {
    let tried = 0;
    for (const name of names) {
      const events = eventsOf(name);
      const states = statesOf(events);
      for (const [at, state] of states.entries()) {
        const data = events[at]?.data;
        if (data === undefined) continue;
        for (const key of keys) {
          for (const value of junk) {
            openaiResponsesProtocol.step(state, { name: "", data: { ...data, [key]: value } });
            tried += 1;
          }
        }
      }
    }
    console.log(`count: wrong types never throw, ${tried} events, 0 failures`);
    expect(tried).toBeGreaterThan(10_000);
  });
});

test("two messages that say the same at one index of the output are two", () => {
  const saying = (id: string, text: string): readonly JsonObject[] => {
    const place = { item_id: id, output_index: 0, content_index: 0 };
    const item = { id, type: "message", role: "assistant" };
    return [
      { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
      { type: "response.output_text.delta", ...place, delta: text },
      { type: "response.output_text.done", ...place, text },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: { ...item, content: [{ type: "output_text", text }] },
      },
    ];
  };
  const events = [
    ...saying("m1", "A"),
    ...saying("m2", "A"),
    ...saying("m3", "B"),
    { type: "response.completed", response: { status: "completed", output: [] } },
  ];
  const bytes = Buffer.from(events.map((data) => `data: ${JSON.stringify(data)}\n\n`).join(""));

  const { draft, end } = decode(openaiResponsesProtocol, sseFraming(), [bytes]);

  expect(end.stop).toBe("end");
  const texts = draft.parts.map((part) =>
    part.state === "committed" && "text" in part.part ? part.part.text : "open",
  );
  expect(texts).toEqual(["A", "A", "B"]);
});
