import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import type { VendorEvent } from "../../framing/framing.ts";
import { sseFraming } from "../../framing/sse.ts";
import type { Operation, Protocol, ReplyContext, StreamEnd } from "../../protocol.ts";
import { ReplyReader } from "../../reply.ts";
import { decode, plainContext } from "../../testing/decode.ts";
import { bytesOf, scenariosOf } from "../../testing/fixtures.ts";
import { testFixtures } from "../../testing/golden.ts";
import { failure } from "../../failure.ts";
import { createOpenaiChatProtocol, openaiChatProtocol } from "./protocol.ts";
import type { OpenaiChatState } from "./protocol.ts";

type Chat = Protocol<VendorEvent, OpenaiChatState>;

const rows = (letter: string, count: number, width: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${letter}${String(at + 1).padStart(width, "0")}`);
const transportRows = ["S5", "S6", "S9", "S10", "S47", "S48", "S49", "S50", "S51", "S52"];

testFixtures(openaiChatProtocol, [...rows("C", 31, 1), ...rows("O", 30, 2), ...transportRows]);

/** The events of a fixture, up to the first invalid one. */
function eventsOf(name: string): readonly VendorEvent[] {
  const framer = sseFraming().open();
  const framed = [...framer.feed(bytesOf("openai-chat", name)), ...framer.end()];
  const bad = framed.findIndex(({ kind }) => kind === "bad_event");
  return framed
    .slice(0, bad < 0 ? framed.length : bad)
    .flatMap((item) => (item.kind === "event" ? [item.event] : []));
}

function chunk(delta: JsonObject, finish: string | null = null): VendorEvent {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { name: "", data: { id: "chatcmpl-1", object: "chat.completion.chunk", choices } };
}

const text = (content: string): VendorEvent => chunk({ content });
const entry = (fields: JsonObject): VendorEvent => chunk({ tool_calls: [fields] });
const done: VendorEvent = { name: "", data: undefined };

interface Walked {
  readonly state: OpenaiChatState;
  readonly operations: readonly Operation[];
}

function walk(protocol: Chat, events: Iterable<VendorEvent>, context = plainContext): Walked {
  let state = protocol.initial(context);
  const operations: Operation[] = [];
  for (const event of events) {
    const translated = protocol.step(state, event);
    ({ state } = translated);
    for (const operation of translated.operations) operations.push(operation);
  }
  return { state, operations };
}

function encode(events: readonly VendorEvent[]): readonly Uint8Array[] {
  const lines = events.map(({ data }) => `data: ${data ? JSON.stringify(data) : "[DONE]"}\n\n`);
  return [new TextEncoder().encode(lines.join(""))];
}

/** The committed and open parts after the events, each as `kind:text`. */
function partsOf(protocol: Chat, events: readonly VendorEvent[], context = plainContext): string[] {
  const decoded = decode(protocol, sseFraming(), encode(events), { context });
  expect(decoded.draft.fault).toBeUndefined();
  return decoded.draft.parts.map((part) => {
    if (part.state === "open") return `open ${part.begin.kind}:${part.settled}${part.tail}`;
    const { part: whole } = part;
    if (whole.kind === "tool_call") return `${whole.callId}:${whole.tool}(${whole.raw})`;
    return whole.kind === "text" || whole.kind === "reasoning"
      ? `${whole.kind}:${whole.text}`
      : whole.kind;
  });
}

const names = scenariosOf("openai-chat").map(({ name }) => name);
const whole = new Set(["end", "tools", "length", "filtered", "paused"]);
const ends: readonly StreamEnd[] = [
  { kind: "eof" },
  { kind: "over" },
  { kind: "aborted" },
  { kind: "cut", cause: failure("connection_reset", "reset") },
  { kind: "failed", cause: failure("bad_json", "bad") },
];

/** True if an event proves the reply complete: it has a finish reason of choice 0. */
function isEvidence({ data }: VendorEvent): boolean {
  const choices = data?.["choices"];
  if (!Array.isArray(choices)) return false;
  return choices.some(
    (choice: unknown) =>
      isJsonObject(choice) &&
      (choice["index"] ?? 0) === 0 &&
      typeof choice["finish_reason"] === "string" &&
      choice["finish_reason"] !== "",
  );
}

describe("endings", () => {
  test("no reply is whole before its finish_reason, however it is cut", () => {
    let cases = 0;
    for (const name of names) {
      const events = eventsOf(name);
      for (let length = 0; length <= events.length; length += 1) {
        const prefix = events.slice(0, length);
        const { state } = walk(openaiChatProtocol, prefix);
        for (const end of ends) {
          const { ending } = openaiChatProtocol.halt(state, end);
          cases += 1;
          const proven = prefix.some(isEvidence) && end.kind !== "failed";
          if (!proven) expect([name, length, ending.stop, whole.has(ending.stop)]).toContain(false);
        }
      }
    }
    console.log(`count: no whole ending without finish_reason, ${cases} cuts, 0 failures`);
    expect(cases).toBeGreaterThan(2_000);
  });

  test("a reply stays whole when it is cut behind its finish_reason", () => {
    const { state } = walk(openaiChatProtocol, [text("Hi"), chunk({}, "stop")]);

    const stops = ends.map((end) => openaiChatProtocol.halt(state, end).ending.stop);

    expect(stops).toEqual(["end", "end", "end", "end", "failed"]);
  });

  test("what came of usage is kept in a reply that was cut", () => {
    const usage = { prompt_tokens: 3, completion_tokens: 1 };
    const { data } = text("Hi");
    const { state } = walk(openaiChatProtocol, [{ name: "", data: { ...data, usage } }]);

    const halted = openaiChatProtocol.halt(state, { kind: "aborted" });

    expect(halted.usage).toEqual({ inputTokens: 3, outputTokens: 1, cachedTokens: 0 });
    expect(halted.ending.stop).toBe("aborted");
  });

  test("calls are committed only with the finish, and before it none can run", () => {
    const { operations } = walk(openaiChatProtocol, [
      entry({ index: 0, id: "call_1", function: { name: "a", arguments: '{"x":1}' } }),
    ]);

    expect(operations.map(({ op }) => op)).toEqual(["begin_part", "append_text"]);
  });

  test("[DONE] ends a reply of text where the server never sends a finish reason", () => {
    const lenient = createOpenaiChatProtocol({ finishOptional: true });
    const stops = [
      [text("Hi"), done],
      [text("Hi")],
      [done],
      [entry({ index: 0, id: "c", function: { name: "a", arguments: "{}" } }), done],
    ].map((events) => decode(lenient, sseFraming(), encode(events)).end.stop);

    expect(stops).toEqual(["end", "truncated", "truncated", "truncated"]);
  });
});

function deepFreeze<Value>(value: Value): Value {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(deepFreeze);
  }
  return value;
}

describe("purity", () => {
  test("a step of a frozen state works, and gives the same twice", () => {
    for (const name of names) {
      let state = deepFreeze(openaiChatProtocol.initial(plainContext));
      for (const event of eventsOf(name)) {
        deepFreeze(event);
        const first = openaiChatProtocol.step(state, event);
        expect(openaiChatProtocol.step(state, event)).toEqual(first);
        state = deepFreeze(first.state);
      }
      expect(openaiChatProtocol.halt(state, { kind: "eof" })).toEqual(
        openaiChatProtocol.halt(state, { kind: "eof" }),
      );
    }
  });

  test("text that goes on leaves the state as it is", () => {
    const { state } = walk(openaiChatProtocol, [text("a")]);

    const translated = openaiChatProtocol.step(state, text("b"));

    expect(translated.state).toBe(state);
    expect(translated.operations).toEqual([{ op: "append_text", partId: "p1", chunk: "b" }]);
  });

  test("arguments that go on copy no list", () => {
    const first = entry({ index: 0, id: "c", function: { name: "a", arguments: "{" } });
    const { state } = walk(openaiChatProtocol, [first]);

    const next = openaiChatProtocol.step(
      state,
      entry({ index: 0, function: { arguments: '"x' } }),
    ).state;

    expect(next.tools.calls).toBe(state.tools.calls);
    expect(next.tools.taken).toBe(state.tools.taken);
  });

  test("100,000 deltas are 100,000 operations, and what waits does not grow", () => {
    const count = 100_000;
    const argument = entry({ index: 0, function: { arguments: "x" } });
    const letters = walk(
      openaiChatProtocol,
      Array.from({ length: count }, () => text("x")),
    );
    const call = entry({ index: 0, id: "c", function: { name: "a", arguments: '{"' } });
    const written = walk(openaiChatProtocol, [
      call,
      ...Array.from({ length: count }, () => argument),
    ]);

    expect(letters.operations).toHaveLength(count + 1);
    expect(written.operations).toHaveLength(count + 2);
    expect(written.state.tools.calls).toHaveLength(1);
  });

  test("text behind whole arguments is held only as long as it can be a copy", () => {
    const call = entry({ index: 0, id: "c", function: { name: "a", arguments: '{"x":1}' } });
    const more = entry({ index: 0, function: { arguments: "y".repeat(100) } });
    const { state, operations } = walk(openaiChatProtocol, [
      call,
      ...Array.from({ length: 50 }, () => more),
    ]);

    expect(operations.length).toBeGreaterThan(30);
    expect(state.tools.active?.arguments.held).toBe("");
  });
});

describe("reasoning in tags", () => {
  const thinking = createOpenaiChatProtocol({ thinkTags: true });
  const written = " <think>\nSix times <b>seven</b></thin></think>\n\nIt is <think>42</think>";
  const expected = [
    "reasoning:\nSix times <b>seven</b></thin>",
    "text:\n\nIt is <think>42</think>",
  ];

  test("tags that are cut anywhere are found", () => {
    for (let cut = 0; cut <= written.length; cut += 1) {
      const pieces = [written.slice(0, cut), written.slice(cut)].map(text);
      expect(partsOf(thinking, [...pieces, chunk({}, "stop")])).toEqual(expected);
    }
    const letters = written.split("").map(text);
    expect(partsOf(thinking, [...letters, chunk({}, "stop")])).toEqual(expected);
  });

  test("the fixture's tags are found by a server's own protocol", () => {
    const decoded = decode(thinking, sseFraming(), [bytesOf("openai-chat", "think-tags")]);
    const parts = decoded.draft.parts.map((part) =>
      part.state === "committed" ? part.part : part,
    );

    expect(parts).toMatchObject([
      { kind: "reasoning", text: "\nSix times seven" },
      { kind: "text", text: "\n\n42" },
    ]);
  });

  test("what looks like the beginning of a tag is text in the end", () => {
    expect(partsOf(thinking, [text("<thi"), chunk({}, "stop")])).toEqual(["text:<thi"]);
    expect(partsOf(thinking, [text("<thi")])).toEqual(["open text:<thi"]);
    expect(partsOf(thinking, [text("<think>a</thi"), chunk({}, "stop")])).toEqual([
      "reasoning:a</thi",
    ]);
    expect(partsOf(thinking, [text("<thinner"), chunk({}, "stop")])).toEqual(["text:<thinner"]);
  });

  test("a tag that the server's template opened is closed by the content", () => {
    const opened = createOpenaiChatProtocol({ thinkTags: "thought", thinkOpened: true });

    const parts = partsOf(opened, [text("Hm.</thou"), text("ght>42"), chunk({}, "stop")]);

    expect(parts).toEqual(["reasoning:Hm.", "text:42"]);
  });
});

describe("calls", () => {
  const begin = (name: string, args = "", id = ""): JsonObject => ({
    id,
    function: { name, arguments: args },
  });
  const offered = (...tools: string[]): ReplyContext => ({ ...plainContext, tools });

  test("a call begins with its name if that name was offered", () => {
    const { operations } = walk(openaiChatProtocol, [entry(begin("look"))], offered("look", "see"));

    expect(operations).toMatchObject([{ op: "begin_part", tool: "look" }]);
  });

  test("a fragment under an index that several calls have belongs to the last of them", () => {
    const events = [
      entry({ index: 0, ...begin("f", "{", "a") }),
      entry({ index: 0, ...begin("g", "{", "b") }),
      entry({ index: 1, ...begin("h", "{", "c") }),
      entry({ index: 0, function: { arguments: '"x":1}' } }),
      chunk({}, "tool_calls"),
    ];

    expect(partsOf(openaiChatProtocol, events)).toEqual(["a:f({)", 'b:g({"x":1})', "c:h({)"]);
  });

  test("a name that others go on from waits for its end", () => {
    const events = [entry(begin("look")), entry(begin("_up", "{}")), chunk({}, "tool_calls")];

    expect(partsOf(openaiChatProtocol, events, offered("look", "look_up"))).toEqual([
      "call_1:look_up({})",
    ]);
  });

  test("two offered names without ids or arguments are two calls", () => {
    const events = [entry(begin("look")), entry(begin("see")), chunk({}, "tool_calls")];

    expect(partsOf(openaiChatProtocol, events, offered("look", "see"))).toEqual([
      "call_1:look()",
      "call_2:see()",
    ]);
  });

  test("equal calls in one list without ids or arguments are as many as they are", () => {
    const pair = chunk({ tool_calls: [begin("roll"), begin("roll")] });

    expect(partsOf(openaiChatProtocol, [pair, chunk({}, "tool_calls")])).toEqual([
      "call_1:roll()",
      "call_2:roll()",
    ]);
  });

  test("a name of white space is none", () => {
    const blank = entry({ index: 0, function: { name: " ", arguments: "{}" } });
    const events = [entry({ index: 0, ...begin("roll") }), blank, chunk({}, "tool_calls")];

    expect(partsOf(openaiChatProtocol, events)).toEqual(["call_1:roll({})"]);
  });

  test("ids of earlier calls are not used again", () => {
    const context = { ...plainContext, takenCallIds: new Set(["call_x"]) };
    const events = [entry(begin("look", "{}", "call_x")), chunk({}, "tool_calls")];

    expect(partsOf(openaiChatProtocol, events, context)).toEqual(["call_x_2:look({})"]);
  });

  test("reasoning and text that alternate for ever do not run out of parts", () => {
    const turns = Array.from({ length: 5_000 }, () =>
      chunk({ reasoning_content: "r", content: "t" }),
    );

    const parts = partsOf(openaiChatProtocol, [...turns, chunk({}, "stop")]);

    expect(parts.length).toBeLessThan(300);
    const said = (kind: string): number =>
      parts
        .filter((part) => part.startsWith(kind))
        .join("")
        .replaceAll(`${kind}:`, "").length;
    expect([said("text"), said("reasoning")]).toEqual([5_000, 5_000]);
  });
});

describe("signs", () => {
  test("chunks without progress are signs of life, and unknown ones are reported", () => {
    const state = openaiChatProtocol.initial(plainContext);
    const signOf = (data: JsonObject): string | undefined =>
      openaiChatProtocol.step(state, { name: "", data }).sign;

    expect(signOf({ choices: [] })).toBe("alive");
    expect(signOf({ choices: [{ index: 0, delta: {}, finish_reason: null }] })).toBe("alive");
    expect(signOf({ choices: [{ index: 1, delta: { content: "x" } }] })).toBe("alive");
    expect(signOf({ type: "ping" })).toBe("alive");
    expect(signOf({ type: "novelty" })).toBe("unknown");
    expect(openaiChatProtocol.step(state, done).sign).toBe("over");
  });

  test("nothing is read behind a failure", () => {
    const deltas: unknown[] = [];
    const sink = {
      emit: (delta: unknown) => void deltas.push(delta),
      draft: () => ({ parts: [] }),
    };
    const reader = new ReplyReader(openaiChatProtocol, plainContext, sink as never);

    expect(reader.take({ name: "", data: { error: { code: 429, message: "slow" } } })).toBe("over");
    expect(reader.end({ kind: "over" })).toMatchObject({ cause: { code: "rate_limited" } });
    expect(deltas).toEqual([]);
  });
});
