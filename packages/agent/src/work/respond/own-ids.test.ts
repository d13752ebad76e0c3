import { partId } from "@millrace/core/writing";
import type { Delta, Item, Part } from "@millrace/core";
import type { Update } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import { drivenTwice, Gate } from "../../testing/driven-twice.ts";
import { answerOf, numbered, yields } from "../../testing/respond.ts";

const append = (own: string, chunk: string): Delta => ({
  op: "append_text",
  partId: partId(own),
  chunk,
});
const full: Update = { op: "replace_item", content: "final" };
const answer: Part = { kind: "text", id: partId("answer"), text: "final" };
const parts: Update = { op: "replace_item", content: [answer] };

function textsOf(items: readonly Item[]): readonly unknown[] {
  return numbered(items).map((item) => item.parts.map((part) => "text" in part && part.text));
}

describe("the ids that an agent gives its parts", () => {
  it("may be those of the item before: in the session each part has an id of its own", async () => {
    const { items } = await answerOf(async (run) => {
      await run.write(yields(append("p1", "a"), append("p2", "b"))(run));
      await run.write(yields(append("p1", "c"), full, append("p2", "d"), parts)(run));
      await run.write("by hand");
      await run.write((item) => void item.replace("by hand"));
    });

    const ids = items.flatMap((item) => item.parts.map(({ id }) => id));
    expect(items).toHaveLength(5);
    expect(ids).toHaveLength(6);
    expect(new Set(ids).size).toBe(6);
    expect(ids).not.toContain("p1");
  });

  it("are plain strings, and one that is no id fails the item", async () => {
    const { items, cause } = await answerOf(async function* respond() {
      yield { op: "append_text", partId: "answer", chunk: "kept" };
      yield { op: "append_text", partId: "", chunk: "lost" };
    });

    expect(items.map(({ stop }) => stop)).toEqual(["failed"]);
    expect(textsOf(items)).toEqual([["kept"]]);
    expect(cause?.message).toContain("part id");
  });

  it("are in the cause of an illegal replacement: that of the text that was streamed", async () => {
    const illegal: Update = { ...full, metadata: { at: Number.NaN } };
    const { cause } = await answerOf(yields(append("p7", "draft"), illegal));

    expect(cause?.evidence).toEqual({
      op: "replace_item",
      partId: "p7",
      fault: "malformed_value",
    });
    expect(cause?.message).toContain("part p7:");
  });
});

describe("what is ignored after a replacement", () => {
  const cases: readonly (readonly [string, readonly Update[], string, string])[] = [
    ["the text that was streamed", [append("p2", "draft"), full], "p2", "p1"],
    ["the text that came without deltas", [full], "p1", "p2"],
    [
      "the text that came after reasoning",
      [{ op: "begin_part", partId: partId("p2"), kind: "reasoning" }, full],
      "p1",
      "p3",
    ],
    [
      "a text that was committed whole",
      [{ op: "commit_part", partId: partId("answer"), part: answer }, full],
      "answer",
      "p1",
    ],
    ["a part of the new content", [parts], "answer", "p1"],
    ["a part that is not in the new content", [append("p2", "draft"), parts], "p2", "p1"],
  ];

  it.each(cases)(
    "goes to %s, and another part begins the next item",
    async (_, steps, old, own) => {
      const { items } = await answerOf(yields(...steps, append(old, "late"), append(own, "next")));

      expect(textsOf(items)).toEqual([["final"], ["next"]]);
    },
  );

  it.each(cases)(
    "goes to %s, also when the session is driven again after the item was stored",
    async (_, steps, old, own) => {
      const gate = new Gate();
      const { items, outcome } = await drivenTwice(
        gate,
        yields(...steps, gate.wait, append(old, "late"), append(own, "next")),
      );

      expect(textsOf(items)).toEqual([["final"], ["next"]]);
      expect(outcome).toBe("completed");
    },
  );
});
