import type { JsonObject } from "@millrace/core";
import { describe, expect, test } from "vitest";
import type { VendorEvent } from "../../framing/framing.ts";
import type { StreamEnd } from "../../protocol.ts";
import { startVendorServer } from "../../serve/vendor-server.ts";
import { plainContext } from "../../testing/decode.ts";
import { failure } from "../../failure.ts";
import { openaiCompatible } from "../../openai.ts";
import { openaiChatProtocol } from "./protocol.ts";

function chunk(delta: JsonObject, reason: string | null = null): VendorEvent {
  return { name: "", data: { id: "c1", choices: [{ index: 0, delta, finish_reason: reason }] } };
}

const text = (content: string, reason: string | null = null): VendorEvent =>
  chunk({ content }, reason);
const call = (id: string, reason: string | null = null): VendorEvent =>
  chunk({ tool_calls: [{ id, function: { name: "look", arguments: "{}" } }] }, reason);

const done: StreamEnd = { kind: "over" };
const otherEnds: readonly StreamEnd[] = [
  { kind: "eof" },
  { kind: "aborted" },
  { kind: "cut", cause: failure("connection_reset", "reset") },
];

function stopOf(events: readonly VendorEvent[], end: StreamEnd): string {
  let state = openaiChatProtocol.initial(plainContext);
  for (const event of events) ({ state } = openaiChatProtocol.step(state, event));
  return openaiChatProtocol.halt(state, end).ending.stop;
}

describe("a finish reason", () => {
  test.each<[string, readonly VendorEvent[], string]>([
    ["alone behind text", [text("Hi"), chunk({}, "stop")], "end"],
    ["alone behind a call", [call("a"), chunk({}, "tool_calls")], "tools"],
    ["beside nothing but an empty text", [text("Hi"), text("", "stop")], "end"],
    ["that is repeated alone", [text("Hi"), chunk({}, "stop"), chunk({}, "stop")], "end"],
    ["beside text, and then alone", [text("Hi", "stop"), chunk({}, "stop")], "end"],
    ["that is corrected to length", [text("Hi"), chunk({}, "stop"), chunk({}, "length")], "length"],
    [
      "of length, repeated as an end",
      [text("Hi"), chunk({}, "length"), chunk({}, "stop")],
      "length",
    ],
    [
      "that is corrected to a failure",
      [text("Hi"), chunk({}, "stop"), chunk({}, "error")],
      "failed",
    ],
    ["that an unknown one follows", [text("Hi"), chunk({}, "stop"), chunk({}, "eol")], "end"],
    ["of length before all content", [chunk({}, "length")], "length"],
    ["of a filter before all content", [chunk({}, "content_filter")], "filtered"],
  ])("%s ends the reply by itself", (_, events, stop) => {
    for (const end of [done, ...otherEnds]) expect(stopOf(events, end)).toBe(stop);
  });

  test.each<[string, readonly VendorEvent[], string]>([
    ["beside text", [text("Hi", "stop")], "end"],
    ["beside a call", [call("a", "tool_calls")], "tools"],
    ["beside the beginning of a call", [chunk({ tool_calls: [{ id: "a" }] }, "stop")], "end"],
    ["beside reasoning", [chunk({ reasoning_content: "Hm." }, "stop")], "end"],
    ["before all content", [chunk({ role: "assistant" }, "stop")], "end"],
    ["that text follows", [text("Hi"), chunk({}, "stop"), text("!")], "end"],
    ["that a call follows", [call("a"), chunk({}, "tool_calls"), call("b")], "tools"],
    [
      "alone, in a stream where text has followed another",
      [text("Hi"), chunk({}, "stop"), text("!"), chunk({}, "stop")],
      "end",
    ],
  ])("%s ends the reply only with [DONE]", (_, events, stop) => {
    expect(stopOf(events, done)).toBe(stop);
    expect(otherEnds.map((end) => stopOf(events, end))).toEqual(["truncated", "aborted", "failed"]);
  });

  test("of a failure stays one, whatever follows it", () => {
    const failed = [text("Hi"), chunk({}, "network_error")];
    for (const more of [[], [text("!")], [text("!"), chunk({}, "stop")]]) {
      expect(stopOf([...failed, ...more], done)).toBe("failed");
    }
  });

  test("that is unknown counts until another one comes behind more content", () => {
    const unknown = [text("Hi"), chunk({}, "novelty")];
    expect(stopOf(unknown, done)).toBe("failed");
    expect(stopOf([...unknown, text("!"), chunk({}, "stop")], done)).toBe("end");
  });

  test("counts once: the first of several in a row, and the last behind more content", () => {
    const row = [text("Hi"), chunk({}, "length"), chunk({}, "stop")];
    expect(stopOf(row, done)).toBe("length");
    expect(stopOf([text("Hi", "stop"), text("!", "length")], done)).toBe("length");
  });

  test.each(["", "null"])("that is %j is none", (none) => {
    expect(stopOf([text("Hi", none)], done)).toBe("truncated");
    expect(stopOf([text("Hi", none), chunk({}, "stop")], { kind: "eof" })).toBe("end");
  });
});

test("a server whose template opens the tag is read by the option for it", async () => {
  const events = [text("Hm."), text("</think>Hi"), chunk({}, "stop")];
  const body = events.map(({ data }) => `data: ${JSON.stringify(data)}\n\n`).join("");
  await using server = await startVendorServer({ replies: [{ body }] });
  const model = openaiCompatible("r1", { baseUrl: server.url, thinkOpened: true });

  const { parts } = await model.stream({ transcript: [] }).result;

  expect(parts).toMatchObject([
    { kind: "reasoning", text: "Hm." },
    { kind: "text", text: "Hi" },
  ]);
});
