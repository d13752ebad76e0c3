import { callId, noUsage, partId } from "@millrace/core/writing";
import type { Delta, Part } from "@millrace/core";
import type { Update } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { answerOf, numbered, yields } from "../../testing/respond.ts";

const id = partId("p1");
const other = partId("p2");
const call = { kind: "tool_call", callId: callId("c1"), tool: "search" } as const;

function append(chunk: string, part = id): Delta {
  return { op: "append_text", partId: part, chunk };
}

function begin(kind: "text" | "reasoning", part = id): Delta {
  return { op: "begin_part", partId: part, kind };
}

describe("an agent that yields updates without beginnings and endings", () => {
  it("stores text that it appends to a part that was not begun", async () => {
    const { items, outcome } = await answerOf(yields(append("Hello, "), append("world.")));

    expect(items).toMatchObject([{ parts: [{ kind: "text", text: "Hello, world." }] }]);
    expect(items[0]?.stop).toBe("end");
    expect(outcome).toBe("completed");
  });

  it("begins the next item with the first delta after a commit_item", async () => {
    const { items, outcome } = await answerOf(
      yields(append("one"), { op: "commit_item", stop: "end" }, append("two")),
    );

    expect(numbered(items).map(({ stop, parts }) => [stop, parts])).toMatchObject([
      ["end", [{ id: "p1", text: "one" }]],
      ["end", [{ id: "p1", text: "two" }]],
    ]);
    expect(outcome).toBe("completed");
  });

  it("begins a structured part for a value, and a text for metadata", async () => {
    const { items, outcome } = await answerOf(
      yields(
        { op: "replace_structured", partId: id, value: { a: 1 } },
        { op: "set_metadata", partId: other, metadata: { lang: "en" } },
        append("yes", other),
      ),
    );

    expect(numbered(items)[0]?.parts).toEqual([
      { kind: "structured", id: "p1", value: { a: 1 } },
      { kind: "text", id: "p2", text: "yes", metadata: { lang: "en" } },
    ]);
    expect(outcome).toBe("completed");
  });

  it("commits parts of every kind that are open when it ends", async () => {
    const { items, outcome } = await answerOf(
      yields(
        begin("reasoning"),
        append("Let me see."),
        { op: "begin_part", partId: other, ...call },
        append('{"q":', other),
        append('"a"}', other),
        { op: "begin_part", partId: partId("p3"), kind: "media", mediaType: "image/png" },
        { op: "append_bytes", partId: partId("p3"), chunk: Uint8Array.of(1, 2) },
      ),
    );

    expect(numbered(items)[0]?.parts).toEqual([
      { kind: "reasoning", id: "p1", text: "Let me see." },
      { ...call, id: "p2", raw: '{"q":"a"}', input: { q: "a" } },
      { kind: "media", id: "p3", mediaType: "image/png", bytes: Uint8Array.of(1, 2) },
    ]);
    expect(items[0]?.stop).toBe("end");
    expect(outcome).toBe("completed");
  });

  it("commits open parts at a commit_item, and the item has its stop reason", async () => {
    const { items } = await answerOf(
      yields(begin("text"), append("too long"), { op: "commit_item", stop: "length" }),
    );

    expect(items).toMatchObject([{ stop: "length", parts: [{ text: "too long" }] }]);
  });

  it("fails with a call whose arguments are not whole, also if other items follow", async () => {
    const { items, outcome, cause } = await answerOf(
      yields(
        { op: "begin_part", partId: id, ...call },
        append('{"q":'),
        { op: "commit_item", stop: "end" },
        append("more"),
      ),
    );

    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({
      stop: "failed",
      parts: [{ raw: '{"q":', fault: { code: "truncated" } }],
      cause: { code: "agent_failed", evidence: { partId: "p1", fault: "part_left_open" } },
    });
    expect(cause?.message).toMatch(/^part p1, /);
    expect(outcome).toBe("failed");
    expect(cause).toEqual(items[0]?.cause);
  });
});

describe("an illegal update", () => {
  const text: Part = { kind: "text", id, text: "kept" };
  const cases: readonly (readonly [string, Delta, RegExp])[] = [
    ["part_committed", append("lost"), /another id, or yield commit_item/],
    ["part_exists", begin("text"), /Begin a part once/],
    [
      "unknown_part",
      { op: "append_bytes", partId: other, chunk: Uint8Array.of(1) },
      /begin_part, which has its kind and media type/,
    ],
    ["malformed_text", append("\ud83d", other), /between characters/],
    [
      "commit_mismatch",
      { op: "commit_part", partId: other, part: text },
      /what was streamed, or replace/,
    ],
  ];

  it.each(cases)("fails item and run, and is in the cause: %s", async (code, update, advice) => {
    let closed = false;
    const { items, outcome, cause } = await answerOf(async function* respond() {
      try {
        yield append("kept");
        yield { op: "commit_part", partId: id, part: text };
        yield update;
        yield append("after", partId("p9"));
      } finally {
        closed = true;
      }
    });

    expect(outcome).toBe("failed");
    expect(items).toHaveLength(1);
    expect(items[0]?.stop).toBe("failed");
    expect(numbered(items)[0]?.parts[0]).toEqual(text);
    expect(JSON.stringify(items[0]?.parts)).not.toContain("after");
    const { evidence, message } = items[0]?.cause ?? {};
    expect(evidence).toEqual({ op: update.op, partId: update.partId, fault: code });
    expect(message).toContain(`part ${update.partId}:`);
    expect(message).toMatch(advice);
    expect(cause).toEqual(items[0]?.cause);
    expect(closed).toBe(true);
  });

  it("is thrown by run.write, and an agent that catches it goes on", async () => {
    const { items, outcome } = await answerOf(async (run) => {
      const bytes: Update = { op: "append_bytes", partId: id, chunk: Uint8Array.of(1) };
      const failed = run.write(yields(bytes)(run));
      const code = await failed.then(
        () => "none",
        (error: { code: string }) => error.code,
      );
      await run.write(code);
    });

    expect(items).toMatchObject([{ stop: "failed" }, { parts: [{ text: "agent_failed" }] }]);
    expect(outcome).toBe("completed");
  });
});

describe("replace_item", () => {
  const commit: Update = { op: "commit_item", stop: "end" };

  it("stores the item before its agent goes on, and the run is completed", async () => {
    let seen: unknown;
    const { items, facts, outcome } = await answerOf(
      yields(
        append("Press [1] twice."),
        { op: "replace_item", content: "Press (page 4) twice.\n\n## Sources\nThe manual" },
        (run) => {
          seen = run.transcript.at(-1)?.parts;
        },
      ),
    );

    expect(items).toMatchObject([
      { stop: "end", parts: [{ text: "Press (page 4) twice.\n\n## Sources\nThe manual" }] },
    ]);
    expect(facts).toEqual(["item_replaced"]);
    expect(seen).toEqual(items[0]?.parts);
    expect(outcome).toBe("completed");
  });

  it("ignores deltas, a second replacement and one commit_item for the same item", async () => {
    const { items, outcome } = await answerOf(
      yields(
        append("draft"),
        { op: "replace_item", content: "final" },
        append(" late"),
        begin("text"),
        { op: "replace_item", content: "too late" },
        { op: "replace_item", content: [{ kind: "text", id, text: "too late" }] },
        commit,
      ),
    );

    expect(numbered(items)).toMatchObject([{ parts: [{ id: "p1", text: "final" }] }]);
    expect(outcome).toBe("completed");
  });

  it("is followed by the next item: with its commit_item, or with a part that it did not have", async () => {
    const { items } = await answerOf(
      yields(
        append("a"),
        { op: "replace_item", content: "A" },
        append("b", other),
        commit,
        append("c"),
        { op: "replace_item", content: "C" },
        commit,
        append("d"),
      ),
    );

    expect(numbered(items).map(({ parts }) => parts)).toMatchObject([
      [{ id: "p1", text: "A" }],
      [{ id: "p1", text: "b" }],
      [{ id: "p1", text: "C" }],
      [{ id: "p1", text: "d" }],
    ]);
  });

  it("needs no deltas before it: a tool's request and its response are items as they are", async () => {
    const asked: Part = { ...call, id: partId("call"), raw: '{"q":"a"}', input: { q: "a" } };
    const result: Part = {
      kind: "tool_result",
      id: partId("result"),
      callId: call.callId,
      tool: call.tool,
      status: "ok",
      text: "3 hits",
    };
    const { items, outcome } = await answerOf(
      yields(
        { op: "replace_item", content: [asked] },
        { op: "replace_item", content: [result] },
        append("Found."),
      ),
    );

    expect(numbered(items).map(({ parts }) => parts)).toMatchObject([
      [{ ...asked, id: "p1" }],
      [{ ...result, id: "p1" }],
      [{ text: "Found." }],
    ]);
    expect(outcome).toBe("completed");
  });

  it("puts a conclusion in the place of a thinking trace, and a tool's findings in that of a text", async () => {
    const conclusion: Part = { kind: "text", id: other, text: "It is 4." };
    const table: Part = { kind: "structured", id: other, value: { rows: [1, 2] } };
    const { items } = await answerOf(
      yields(
        begin("reasoning"),
        append("2 and 2 …"),
        { op: "replace_item", content: [conclusion] },
        commit,
        append("partly: 1"),
        { op: "replace_item", content: [{ kind: "text", id, text: "all:" }, table] },
      ),
    );

    expect(numbered(items).map(({ parts }) => parts)).toMatchObject([
      [conclusion],
      [{ text: "all:" }, table],
    ]);
  });

  it("keeps the metadata of the text that it replaces, unless it brings its own", async () => {
    const annotated: Update = { op: "set_metadata", partId: other, metadata: { lang: "en" } };
    const { items } = await answerOf(
      yields(
        annotated,
        { op: "replace_item", content: "kept" },
        commit,
        annotated,
        { op: "replace_item", content: "own", metadata: { sources: 3 } },
        commit,
        { op: "replace_item", content: [], metadata: { sources: 0 } },
      ),
    );

    expect(numbered(items)[0]?.parts).toEqual([
      { kind: "text", id: "p1", text: "kept", metadata: { lang: "en" } },
    ]);
    expect(items[1]?.parts).toMatchObject([{ text: "own", metadata: { sources: 3 } }]);
    expect(items[2]).toMatchObject({ parts: [], metadata: { sources: 0 } });
  });

  it("reports the usage that it has, and the model", async () => {
    const usage = { ...noUsage, inputTokens: 3, outputTokens: 4 };
    const answer = await answerOf(
      yields({ op: "replace_item", content: "done", usage, model: "bridge/m" }),
    );

    expect(answer.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
    expect(answer.items).toMatchObject([{ usage, model: "bridge/m" }]);
  });

  it("with content that is illegal fails the item with what was streamed", async () => {
    const broken: Part = { ...call, id: other, raw: "{}", input: { q: "invented" } };
    const { items, facts, outcome } = await answerOf(
      yields(append("streamed"), { op: "replace_item", content: [broken] }),
    );

    expect(items).toMatchObject([{ stop: "failed", parts: [{ text: "streamed" }] }]);
    expect(items[0]?.cause?.evidence).toMatchObject({
      op: "replace_item",
      fault: "commit_mismatch",
    });
    expect(facts).toEqual(["item_committed"]);
    expect(outcome).toBe("failed");
  });

  it("keeps its item when its agent throws afterwards, and the run fails", async () => {
    const { items, outcome } = await answerOf(
      yields(append("draft"), { op: "replace_item", content: "final" }, () => {
        throw new Error("no further");
      }),
    );

    expect(items).toMatchObject([{ stop: "end", parts: [{ text: "final" }] }]);
    expect(outcome).toBe("failed");
  });
});
