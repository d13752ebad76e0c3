import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import type { VendorEvent } from "../../framing/framing.ts";
import { sseFraming } from "../../framing/sse.ts";
import type { StreamEnd } from "../../protocol.ts";
import { failure } from "../../failure.ts";
import { decode, plainContext, printDecoded } from "../../testing/decode.ts";
import type { Decoded } from "../../testing/decode.ts";
import { recordedStreams } from "../../testing/fixtures.ts";
import { testFixtures } from "../../testing/golden.ts";
import { anthropicMessagesProtocol } from "./protocol.ts";
import type { AnthropicMessagesState } from "./protocol.ts";

const numbered = (from: number, to: number, digits: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, at) => `A${String(from + at).padStart(digits, "0")}`);

const named = (group: string, names: string): readonly string[] =>
  names.split(" ").map((name) => `${group}:${name}`);

testFixtures(anthropicMessagesProtocol, [
  // From 10 on, the table of quirks and the table of bad input have the same names for rows.
  ...numbered(1, 9, 1),
  ...numbered(1, 23, 2),
  ...named("event", "message_start content_block_start content_block_delta content_block_stop"),
  ...named("event", "message_delta message_stop ping error"),
  ...named("delta", "text_delta input_json_delta citations_delta thinking_delta signature_delta"),
  ...named("delta", "compaction_delta"),
  ...named("block", "text thinking redacted_thinking tool_use server_tool_use container_upload"),
  ...named("block", "web_search_tool_result web_fetch_tool_result code_execution_tool_result"),
  ...named("block", "bash_code_execution_tool_result text_editor_code_execution_tool_result"),
  ...named("block", "tool_search_tool_result mcp_tool_use mcp_tool_result mcp_tool_listing"),
  ...named("block", "advisor_tool_result compaction fallback"),
  ...named("stop", "end_turn max_tokens stop_sequence tool_use pause_turn refusal compaction"),
  ...named("stop", "model_context_window_exceeded sensitive"),
]);

const streams = new Map(
  recordedStreams(anthropicMessagesProtocol.id).map(({ name, bytes }) => [name, bytes]),
);
const fixtures: readonly string[] = [...streams.keys()];
const bytesOf = (name: string): Uint8Array => streams.get(name) ?? new Uint8Array();

function eventsOf(name: string): readonly VendorEvent[] {
  const framer = sseFraming().open();
  const framed = [...framer.feed(bytesOf(name)), ...framer.end()];
  return framed.flatMap((each) => (each.kind === "event" ? [each.event] : []));
}

/** Decodes parsed events. */
function read(
  events: readonly VendorEvent[],
  end: StreamEnd,
  takenCallIds: string[] = [],
): Decoded {
  const framing = {
    mediaType: "",
    open: () => ({
      feed: () => events.map((event) => ({ kind: "event", event }) as const),
      end: () => [],
    }),
  };
  const context = { ...plainContext, takenCallIds: new Set(takenCallIds) };
  return decode(anthropicMessagesProtocol, framing, [new Uint8Array()], { end, context });
}

const event = (data: JsonObject): VendorEvent => ({ name: "", data });
const start = event({ type: "message_start", message: { id: "msg_1", content: [] } });
const begin = (index: number, block: JsonObject): VendorEvent =>
  event({ type: "content_block_start", index, content_block: block });
const delta = (index: number, piece: JsonObject): VendorEvent =>
  event({ type: "content_block_delta", index, delta: piece });
const stop = (index: number): VendorEvent => event({ type: "content_block_stop", index });
const reason = (stop_reason: string): VendorEvent =>
  event({ type: "message_delta", delta: { stop_reason } });
const over = event({ type: "message_stop" });

function stepAll(events: readonly VendorEvent[]): AnthropicMessagesState {
  let state = anthropicMessagesProtocol.initial(plainContext);
  for (const each of events) state = anthropicMessagesProtocol.step(state, each).state;
  return state;
}

describe("a reply that is cut", () => {
  test.each(fixtures)("%s is never whole before the vendor proves it", (name) => {
    const events = eventsOf(name);

    for (let count = 0; count < events.length; count += 1) {
      const some = events.slice(0, count);
      const { end } = read(some, { kind: "aborted" });
      const reasoned = some.some(
        ({ data }) =>
          data?.["type"] === "message_delta" &&
          isJsonObject(data["delta"]) &&
          typeof data["delta"]["stop_reason"] === "string",
      );
      if (!reasoned) expect(["aborted", "failed"]).toContain(end.stop);
    }
  });

  test("stays whole if all evidence came before the cut", () => {
    const events = [start, begin(0, { type: "text", text: "Hi" }), stop(0), reason("end_turn")];
    const cause = failure("connection_reset", "reset");

    expect(read(events, { kind: "aborted" }).end.stop).toBe("end");
    expect(read(events, { kind: "cut", cause }).end.stop).toBe("end");
    expect(read(events, { kind: "failed", cause }).end).toMatchObject({ stop: "failed", cause });
  });

  test("keeps a call without arguments from running", () => {
    const events = [start, begin(0, { type: "tool_use", id: "a", name: "ls", input: {} }), stop(0)];

    const { draft, end } = read(events, { kind: "aborted" });

    expect(end.stop).toBe("aborted");
    expect(draft.parts.map(({ state }) => state)).toEqual(["open"]);
  });
});

describe("the state", () => {
  test.each(fixtures)("is never changed by a step: %s", (name) => {
    let state = deepFreeze(anthropicMessagesProtocol.initial(plainContext));
    for (const each of eventsOf(name)) {
      const before = structuredClone(state);
      const first = anthropicMessagesProtocol.step(state, deepFreeze(each));
      const second = anthropicMessagesProtocol.step(state, each);
      expect(second).toEqual(first);
      expect(state).toEqual(before);
      if (first.failure !== undefined) return;
      state = deepFreeze(first.state);
    }
    const end = { kind: "over" } as const;
    expect(anthropicMessagesProtocol.halt(state, end)).toEqual(
      anthropicMessagesProtocol.halt(state, end),
    );
  });

  test.each([
    ["text", { type: "text", text: "" }, { type: "text_delta", text: "a" }],
    ["thinking", { type: "thinking", thinking: "" }, { type: "thinking_delta", thinking: "a" }],
    [
      "arguments",
      { type: "tool_use", id: "a", name: "f", input: {} },
      { type: "input_json_delta", partial_json: "1" },
    ],
  ])("is the same object after each piece of %s", (_, block, piece) => {
    const first = stepAll([start, begin(0, block), delta(0, piece)]);

    for (let count = 0; count < 1_000; count += 1) {
      const { state, operations } = anthropicMessagesProtocol.step(first, delta(0, piece));
      expect(state).toBe(first);
      expect(operations).toHaveLength(1);
    }
  });

  test.each([
    [
      "a signature",
      { type: "thinking", thinking: "" },
      { type: "signature_delta", signature: "ab" },
    ],
    [
      "citations",
      { type: "text", text: "" },
      { type: "citations_delta", citation: { type: "page_location" } },
    ],
    [
      "input of a tool of the vendor",
      { type: "server_tool_use", id: "a", name: "web_search", input: {} },
      { type: "input_json_delta", partial_json: "[" },
    ],
  ])("grows by one small copy for each piece of %s", (_, block, piece) => {
    const before = Array.from({ length: 500 }, (__, at) => [
      begin(at, { type: "text", text: "" }),
      stop(at),
    ]).flat();
    let state = stepAll([start, ...before, begin(500, block)]);

    for (let count = 0; count < 1_000; count += 1) {
      const next = anthropicMessagesProtocol.step(state, delta(500, piece)).state;
      expect(next.open).toHaveLength(1);
      expect(next.closed).toBe(state.closed);
      expect(next.taken).toBe(state.taken);
      state = next;
    }
  });

  test("is the same object after a hundred thousand pings", () => {
    const first = stepAll([start]);
    const ping = event({ type: "ping" });

    let state = first;
    for (let count = 0; count < 100_000; count += 1) {
      const step = anthropicMessagesProtocol.step(state, ping);
      if (step.sign !== "alive") expect.unreachable();
      state = step.state;
    }

    expect(state).toBe(first);
  });
});

describe("limits", () => {
  const call = { type: "tool_use", name: "f", input: {} };

  test("128 calls are taken and one more is not", () => {
    const calls = Array.from({ length: 129 }, (_, at) => [begin(at, call), stop(at)]).flat();
    const whole = read([start, ...calls.slice(0, 256), reason("tool_use"), over], { kind: "eof" });

    expect(whole.end.stop).toBe("tools");
    expect(read([start, ...calls], { kind: "eof" }).end.cause?.code).toBe("too_many_parts");
  });

  test("a reply has as many blocks as a draft has parts", () => {
    const text = { type: "text", text: "a" };
    const blocks = Array.from({ length: 1_001 }, (_, at) => [begin(at, text), stop(at)]).flat();

    const { end, draft } = read([start, ...blocks], { kind: "eof" });

    expect(end.cause?.code).toBe("too_many_parts");
    expect(draft.parts).toHaveLength(1_000);
    expect(draft.fault).toBeUndefined();
  });

  test("no more than 64 blocks are open at a time", () => {
    const blocks = Array.from({ length: 65 }, (_, at) => begin(at, { type: "text", text: "" }));

    expect(read([start, ...blocks], { kind: "eof" }).end.cause?.code).toBe("too_many_parts");
  });
});

describe("content that no part can hold", () => {
  const whole = (block: JsonObject): Decoded =>
    read([start, begin(0, block), stop(0), reason("end_turn"), over], { kind: "eof" });

  test.each([
    ["a forbidden key", '{"__proto__":1}'],
    ["half a character", '"\\ud800"'],
    ["too much text", JSON.stringify("a".repeat(3_000_000))],
  ])("is left out, and the reply stays whole: %s", (_, text) => {
    const content = JSON.parse(text) as JsonObject;

    const { draft, end } = whole({ type: "web_fetch_tool_result", tool_use_id: "a", content });

    expect(draft.fault).toBeUndefined();
    expect(end.stop).toBe("end");
    expect(draft.parts).toMatchObject([
      {
        part: {
          metadata: { unusable: "not_storable" },
          value: { type: "web_fetch_tool_result", tool_use_id: "a" },
        },
      },
    ]);
  });

  test.each([
    ["too_deep", `${"[".repeat(20_000)}${"]".repeat(20_000)}`],
    ["too_large", JSON.stringify("a".repeat(3_000_000))],
    ["forbidden_key", '{"__proto__":1}'],
    ["malformed_text", '"\\ud800"'],
    ["inexact_number", "12345678901234567890"],
  ])("input that is %s in the start of a call keeps it from running", (code, value) => {
    const input = JSON.parse(`{"a":${value}}`) as JsonObject;

    const { draft, end } = whole({ type: "tool_use", id: "a", name: "f", input });

    expect(draft.fault).toBeUndefined();
    expect(end.stop).toBe("tools");
    expect(draft.parts).toMatchObject([{ part: { kind: "tool_call", fault: { code } } }]);
  });

  test.each([
    ["of no type", {}],
    ["whose type is too long", { type: "a".repeat(300) }],
    ["whose type has half a character", { type: "\ud800" }],
  ])("a block %s breaks the protocol", (_, block: JsonObject) => {
    expect(whole(block).end.cause?.code).toBe("protocol");
  });

  test("a signature with half a character is no signature", () => {
    const { draft } = whole({ type: "thinking", thinking: "Hm.", signature: "\ud800" });

    expect(draft.fault).toBeUndefined();
    expect(draft.parts).toMatchObject([{ part: { kind: "reasoning", text: "Hm." } }]);
    expect(JSON.stringify(draft.parts)).not.toContain("opaque");
  });

  test("a call whose name has half a character breaks the protocol", () => {
    expect(whole({ type: "tool_use", name: "\ud800", input: {} }).end.cause?.code).toBe("protocol");
  });

  test("an error with half a character is reported without it", () => {
    const error = { type: "overloaded_error", message: "busy", details: "\ud800" };
    const { end } = read([event({ type: "error", error })], { kind: "eof" });

    expect(end.cause).toMatchObject({
      code: "overloaded",
      evidence: { type: "overloaded_error" },
    });
  });
});

test("a call gets another id if its own is in the transcript", () => {
  const call = begin(0, { type: "tool_use", id: "toolu_1", name: "f", input: {} });

  const { deltas } = read([start, call], { kind: "eof" }, ["toolu_1"]);

  expect(deltas).toMatchObject([{ op: "begin_part", callId: "toolu_1_2" }]);
});

test.each(fixtures)("%s gives the same deltas however its bytes are cut", (name) => {
  const bytes = bytesOf(name).subarray(0, 6_000);
  const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));

  const whole = decode(anthropicMessagesProtocol, sseFraming(), [bytes]);
  const cut = decode(anthropicMessagesProtocol, sseFraming(), single);

  expect(printDecoded(cut)).toBe(printDecoded(whole));
});

function deepFreeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const child of Object.values(value)) deepFreeze(child);
  return Object.freeze(value);
}
