import { describe, expect, it } from "vitest";
import type { Item } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import { callId, itemId, partId } from "../ids.ts";
import { trace } from "./trace.ts";

function item(author: Item["author"], ...parts: readonly Part[]): Item {
  return { id: itemId(`item-${Math.random()}`), author, parts, stop: "end" };
}

function conversation(names: { readonly part: string; readonly call: string }): readonly Item[] {
  const id = partId(names.part);
  const [one, two] = [callId(`${names.call}1`), callId(`${names.call}2`)];
  return [
    item("user", { kind: "text", id, text: "hi" }),
    {
      id: itemId("calling"),
      author: "model",
      parts: [
        { kind: "reasoning", id, text: "hm", opaque: { signature: "s" } },
        { kind: "tool_call", id, callId: two, tool: "add", raw: '{"a":1}', input: { a: 1 } },
        { kind: "tool_call", id, callId: one, tool: "add", raw: "{", fault: { code: "truncated" } },
      ],
      stop: "tools",
    },
    item("tool", { kind: "tool_result", id, callId: two, tool: "add", status: "ok", text: "2" }),
    item("tool", {
      kind: "tool_result",
      id,
      callId: one,
      tool: "add",
      status: "failed",
      text: "no",
      synthetic: true,
    }),
    item("model", { kind: "media", id, mediaType: "image/png", bytes: Uint8Array.of(1, 2, 3) }),
  ];
}

describe("trace", () => {
  it("is one line of JSON a part, in order, with calls numbered as they appear", () => {
    const lines = [
      { author: "user", kind: "text", text: "hi" },
      {
        author: "model",
        kind: "reasoning",
        text: "hm",
        opaque: { signature: "s" },
        stop: "tools",
      },
      {
        author: "model",
        kind: "tool_call",
        tool: "add",
        raw: '{"a":1}',
        input: { a: 1 },
        call: 1,
        stop: "tools",
      },
      {
        author: "model",
        kind: "tool_call",
        tool: "add",
        raw: "{",
        fault: { code: "truncated" },
        call: 2,
        stop: "tools",
      },
      { author: "tool", kind: "tool_result", tool: "add", status: "ok", text: "2", call: 1 },
      {
        author: "tool",
        kind: "tool_result",
        tool: "add",
        status: "failed",
        text: "no",
        synthetic: true,
        call: 2,
      },
      { author: "model", kind: "media", bytes: "AQID", mediaType: "image/png" },
    ];

    const text = trace(conversation({ part: "p", call: "c" }));

    expect(text.endsWith("\n")).toBe(true);
    expect(
      text
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
    ).toStrictEqual(lines);
  });

  it("is the same text for the same conversation under other ids", () => {
    expect(trace(conversation({ part: "p", call: "c" }))).toBe(
      trace(conversation({ part: "q", call: "x" })),
    );
  });

  it("differs when a word, a status or an ending differs", () => {
    const [first, ...rest] = conversation({ part: "p", call: "c" });
    const base = trace([first as Item, ...rest]);
    const cut = { stop: "aborted", cause: { code: "aborted", message: "x" } } as const;
    const { stop: _, ...open } = first as Item;

    expect(trace([{ ...open, ...cut } as Item, ...rest])).not.toBe(base);
    expect(trace([item("user", { kind: "text", id: partId("p"), text: "ho" }), ...rest])).not.toBe(
      base,
    );
    expect(trace(rest)).not.toBe(base);
  });

  it("is empty for nothing", () => {
    expect(trace([])).toBe("");
  });

  it("has line ends of a text escaped, so that a part stays one line", () => {
    const words: Part = { kind: "text", id: partId("p"), text: "a\nb\r\n" };

    expect(trace([item("user", words)]).split("\n")).toHaveLength(2);
  });
});
