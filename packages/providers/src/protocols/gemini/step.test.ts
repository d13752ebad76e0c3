import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import type { VendorEvent } from "../../framing/framing.ts";
import { sseFraming } from "../../framing/sse.ts";
import type { StreamEnd, Translated } from "../../protocol.ts";
import { plainContext } from "../../testing/decode.ts";
import { recordedStreams } from "../../testing/fixtures.ts";
import { testFixtures } from "../../testing/golden.ts";
import { failure } from "../../failure.ts";
import { geminiProtocol } from "./protocol.ts";
import type { GeminiState } from "./protocol.ts";

const numbered = (prefix: string, count: number, width: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${String(at + 1).padStart(width, "0")}`);
const named = (prefix: string, names: string): readonly string[] =>
  names.split(" ").map((name) => `${prefix}:${name}`);

testFixtures(geminiProtocol, [
  ...numbered("G", 17, 1),
  ...numbered("N", 9, 2),
  ...named("part", "text thought inlineData fileData functionCall functionResponse executableCode"),
  ...named("part", "codeExecutionResult toolCall toolResponse audioTranscription"),
  ...named("finish", "STOP MAX_TOKENS SAFETY RECITATION LANGUAGE OTHER BLOCKLIST SPII"),
  ...named("finish", "PROHIBITED_CONTENT MALFORMED_FUNCTION_CALL UNEXPECTED_TOOL_CALL"),
  ...named("finish", "TOO_MANY_TOOL_CALLS IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION"),
  ...named("finish", "IMAGE_OTHER NO_IMAGE CONTINUATION FINISH_REASON_UNSPECIFIED"),
  ...named("block", "SAFETY OTHER BLOCKLIST PROHIBITED_CONTENT IMAGE_SAFETY MODEL_ARMOR JAILBREAK"),
]);

/** The events of all fixtures and quirks, without invalid ones. */
const streams = recordedStreams("gemini").map(({ name, bytes }) => {
  const framer = sseFraming().open();
  const framed = [...framer.feed(bytes), ...framer.end()];
  return {
    name,
    events: framed.flatMap((one) => (one.kind === "event" ? [one.event] : [])),
  };
});

const event = (data: JsonObject): VendorEvent => ({ name: "", data });
const content = (parts: Json, rest: JsonObject = {}): VendorEvent =>
  event({ candidates: [{ content: { role: "model", parts }, ...rest }] });
const start = (): GeminiState => geminiProtocol.initial(plainContext);

/** Steps until the end or a failure. */
function run(events: readonly VendorEvent[]): Translated<GeminiState> {
  let last: Translated<GeminiState> = { state: start(), operations: [] };
  for (const one of events) {
    if (last.failure !== undefined) break;
    const next = geminiProtocol.step(last.state, one);
    last = { ...next, operations: [...last.operations, ...next.operations] };
  }
  return last;
}

function saysItsEnd({ data }: VendorEvent): boolean {
  return /"(?:finishReason|blockReason)":/.test(JSON.stringify(data ?? {}));
}

describe("the end of a reply", () => {
  const cause = failure("connection_reset", "the connection was reset");
  const ends: readonly StreamEnd[] = [
    { kind: "eof" },
    { kind: "over" },
    { kind: "aborted" },
    { kind: "cut", cause },
    { kind: "failed", cause },
  ];

  test.each(streams)("$name is never whole before the vendor proves it", ({ events }) => {
    let state = start();
    for (const one of [event({}), ...events]) {
      if (saysItsEnd(one)) break;
      const next = geminiProtocol.step(state, one);
      ({ state } = next);
      if (next.failure !== undefined) break;

      const stops = ends.map((end) => geminiProtocol.halt(state, end).ending.stop);

      expect(stops).toEqual(["truncated", "truncated", "aborted", "failed", "failed"]);
    }
  });

  test("a reply that is whole stays so when it is aborted or cut behind its end", () => {
    const { state } = run([content([{ text: "Hi" }], { finishReason: "STOP" })]);

    const stops = ends.map((end) => geminiProtocol.halt(state, end).ending.stop);

    expect(stops).toEqual(["end", "end", "end", "end", "failed"]);
  });

  test("usage is known of a reply that was aborted", () => {
    const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 };
    const { state } = run([event({ candidates: [], usageMetadata })]);

    const { usage } = geminiProtocol.halt(state, { kind: "aborted" });

    expect(usage).toEqual({ inputTokens: 7, outputTokens: 2, cachedTokens: 0 });
  });

  test.each([
    ["beyond what a number holds", { promptTokenCount: 2 ** 53, totalTokenCount: 1 }],
    ["with a fraction", { promptTokenCount: 1.5, totalTokenCount: 2 }],
    ["with more cached than read", { promptTokenCount: 1, cachedContentTokenCount: 2 }],
    ["of another type", { promptTokenCount: 1, thoughtsTokenCount: [3] }],
  ])("a count %s makes the usage unknown", (_, usageMetadata) => {
    const { state } = run([event({ usageMetadata })]);

    expect(geminiProtocol.halt(state, { kind: "eof" })).not.toHaveProperty("usage");
  });
});

describe("a step", () => {
  test.each(streams)("of $name leaves its state as it was, and can be made again", ({ events }) => {
    let state = deepFreeze(start());
    for (const one of events) {
      const first = geminiProtocol.step(state, one);
      const second = geminiProtocol.step(state, one);

      expect(second).toEqual(first);
      expect(geminiProtocol.halt(first.state, { kind: "eof" })).toEqual(
        geminiProtocol.halt(second.state, { kind: "eof" }),
      );
      state = deepFreeze(first.state);
    }
  });

  test("with nothing new keeps the same state, and is a sign of life", () => {
    const { state } = run([content([{ text: "Hi" }])]);

    const steps = [content([{ text: "" }]), content([]), event({ candidates: [] })].map((one) =>
      geminiProtocol.step(state, one),
    );

    for (const step of steps) expect(step).toEqual({ state, operations: [], sign: "alive" });
    for (const step of steps) expect(step.state).toBe(state);
  });

  test("with text, and no usage, keeps the same state", () => {
    const { state } = run([content([{ text: "Hi" }])]);

    expect(geminiProtocol.step(state, content([{ text: " there" }])).state).toBe(state);
  });

  test("of an unknown event has the sign unknown", () => {
    expect(geminiProtocol.step(start(), event({ news: 1 })).sign).toBe("unknown");
  });
});

describe("the cost of a step", () => {
  const count = 20_000;
  const pieces = (one: VendorEvent): readonly VendorEvent[] =>
    Array.from({ length: count }, () => one);
  const kinds: readonly (readonly [string, VendorEvent, VendorEvent])[] = [
    ["text", content([{ text: "a" }]), content([{ text: "a" }])],
    ["thoughts", content([{ text: "a", thought: true }]), content([{ text: "a", thought: true }])],
    [
      "arguments",
      content([{ functionCall: { name: "f", willContinue: true } }]),
      content([
        {
          functionCall: {
            partialArgs: [{ jsonPath: "$.a", stringValue: "b", willContinue: true }],
            willContinue: true,
          },
        },
      ]),
    ],
  ];

  test.each(kinds)("of %s does not grow with what came before", (_, first, more) => {
    let { state } = run([first, more]);
    const size = JSON.stringify(state).length;
    let operations = 0;
    let length = 0;
    for (const one of pieces(more)) {
      const step = geminiProtocol.step(state, one);
      ({ state } = step);
      for (const operation of step.operations) {
        operations += 1;
        length += operation.op === "append_text" ? operation.chunk.length : 0;
      }
    }

    expect(operations).toBe(count);
    expect(length).toBe(count);
    expect(JSON.stringify(state).length).toBe(size);
  });

  test("of sources that are repeated is theirs alone", () => {
    const groundingMetadata = { groundingChunks: [{ web: { uri: "https://example.org" } }] };
    const one = content([], { groundingMetadata });
    const { state } = run([content([{ text: "a" }]), one]);

    expect(geminiProtocol.step(state, one).state).toBe(state);
  });
});

describe("what breaks the protocol", () => {
  const call = (functionCall: Json): VendorEvent => content([{ functionCall }]);
  const begun = call({ name: "f", willContinue: true });

  test.each<readonly [string, readonly VendorEvent[]]>([
    ["a part that is a text", [content(["Hi"])]],
    ["text that is a number", [content([{ text: 5 }])]],
    ["a call that is a text", [call("f")]],
    [
      "a name behind the first arguments of its call",
      [call({ partialArgs: [], willContinue: true }), call({ name: "f", args: {} })],
    ],
    ["partial arguments that are no list", [begun, call({ partialArgs: { a: 1 } })]],
    [
      "whole arguments behind partial ones",
      [
        begun,
        call({ partialArgs: [{ jsonPath: "$.a", numberValue: 1 }], willContinue: true }),
        call({ args: {} }),
      ],
    ],
    [
      "partial arguments behind whole ones",
      [
        call({ name: "f", args: {}, willContinue: true }),
        call({ partialArgs: [{ jsonPath: "$.a", numberValue: 1 }] }),
      ],
    ],
    [
      "a piece with the id of another call",
      [call({ name: "f", id: "a", willContinue: true }), call({ id: "b" })],
    ],
    ["media without data", [content([{ inlineData: { mimeType: "image/png" } }])]],
    ["a file without an address", [content([{ fileData: { mimeType: "image/png" } }])]],
    ["a part that can't be stored", [content([{ executableCode: { code: "\ud800" } }])]],
  ])("is %s", (_, events) => {
    expect(run(events).failure?.code).toBe("protocol");
  });

  test("is not a field of no value, nor content of another shape", () => {
    const odd = [
      content(null),
      content({ text: "a" }),
      content([{ text: null }, {}, { thought: true }, { functionCall: {} }]),
      event({ candidates: [null, 5], promptFeedback: {}, error: null }),
      event({ candidates: { index: 0 }, usageMetadata: [] }),
    ];

    const { operations, failure: found } = run(odd);

    expect([operations, found]).toEqual([[], undefined]);
  });

  test("is more than 128 calls, or more than 1000 parts", () => {
    const calls = Array.from({ length: 129 }, (_, at) => call({ name: "f", args: { at } }));
    const parts = Array.from({ length: 1_001 }, (_, at) =>
      content([{ text: "a", thought: at % 2 === 0 }]),
    );

    const results = [calls.slice(1), calls, parts.slice(1), parts].map(run);

    const codes = results.map((result) => result.failure?.code);
    expect(codes).toEqual([undefined, "too_many_parts", undefined, "too_many_parts"]);
    const begun = results[3]?.operations.filter(({ op }) => op === "begin_part");
    expect(begun).toHaveLength(1_000);
  });
});

describe("a call", () => {
  test("whose arguments are too deep to be written never runs", () => {
    let args: Json = 1;
    for (let depth = 0; depth < 50_000; depth += 1) args = { a: args };

    const { operations, failure: found } = run([content([{ functionCall: { name: "f", args } }])]);

    expect(found).toBeUndefined();
    expect(operations.at(-1)).toMatchObject({ op: "close_part", fault: { code: "too_deep" } });
  });

  test("has no id that the transcript has", () => {
    const state = geminiProtocol.initial({
      ...plainContext,
      takenCallIds: new Set(["a", "call_3"]),
    });

    const { operations } = geminiProtocol.step(
      state,
      content([
        { functionCall: { name: "f", id: "a", args: {} } },
        { functionCall: { name: "f", args: {} } },
      ]),
    );

    const ids = operations.flatMap((one) => ("callId" in one ? [one.callId] : []));
    expect(ids).toEqual(["a_2", "call_4"]);
  });

  test("may be named in each of its pieces", () => {
    const piece = (jsonPath: string, willContinue: boolean): VendorEvent =>
      content([
        {
          functionCall: {
            name: "f",
            id: "a",
            partialArgs: [{ jsonPath, numberValue: 1 }],
            willContinue,
          },
        },
      ]);

    const { operations } = run([piece("$.a", true), piece("$.b", false)]);

    const text = operations.map((one) => (one.op === "append_text" ? one.chunk : "")).join("");
    expect(text).toBe('{"a":1,"b":1}');
  });
});

describe("an error", () => {
  test.each<readonly [string, Json, string]>([
    ["by its status word", { status: "PERMISSION_DENIED", code: 500 }, "forbidden"],
    ["by its number", { status: "SOMETHING_NEW", code: 504 }, "server_error"],
    ["as a text", "out of order", "provider_error"],
    ["without anything", {}, "provider_error"],
  ])("is read %s", (_, error, code) => {
    expect(geminiProtocol.step(start(), event({ error })).failure?.code).toBe(code);
  });
});

/** Freezes plain data. Instances of classes are skipped. */
function deepFreeze<Value>(value: Value): Value {
  if (Array.isArray(value) || isJsonObject(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value as object)) deepFreeze(inner);
  }
  return value;
}
