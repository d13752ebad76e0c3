import { callId, partId } from "@millrace/core/writing";
import type { Part } from "@millrace/core";
import type { Metadata } from "@millrace/core/writing";
import { describe, expect, it } from "vitest";
import type { ItemWriter } from "../../definition/settings.ts";
import { answerOf, numbered } from "../../testing/respond.ts";
import type { Answer } from "../../testing/respond.ts";

async function byHand(write: (item: ItemWriter) => void | Promise<void>): Promise<Answer> {
  return await answerOf(async (run) => {
    await run.write(write);
  });
}

describe("replace of an item that is written by hand", () => {
  it("stores the item at once, while the function that writes it goes on", async () => {
    let seen: unknown;
    const { items, facts } = await answerOf(async (run) => {
      await run.write(async (item) => {
        item.append("draft");
        await item.replace("final");
        seen = run.transcript.at(-1)?.parts;
      });
    });

    expect(seen).toMatchObject([{ text: "final" }]);
    expect(items).toMatchObject([{ stop: "end", parts: [{ text: "final" }] }]);
    expect(facts).toEqual(["item_replaced"]);
  });

  it("wins over what is appended and annotated after it, and over a second one", async () => {
    const { items, outcome } = await byHand(async (item) => {
      item.append("draft");
      const stored = item.replace("final");
      item.append(" late");
      item.annotate({ late: true });
      expect(await item.replace("too late")).toBe(await stored);
      item.append(" later");
    });

    expect(numbered(items)[0]?.parts).toEqual([{ kind: "text", id: "p1", text: "final" }]);
    expect(items).toHaveLength(1);
    expect(outcome).toBe("completed");
  });

  it("keeps what the item was annotated with, unless it brings metadata of its own", async () => {
    const own: readonly (Metadata | undefined)[] = [undefined, { sources: 2 }];
    const { items } = await answerOf(async (run) => {
      for (const metadata of own)
        await run.write((item) => {
          item.append("draft");
          item.annotate({ sources: 3 });
          void item.replace("final", metadata);
        });
    });

    expect(items.map(({ parts }) => parts[0])).toMatchObject([
      { text: "final", metadata: { sources: 3 } },
      { text: "final", metadata: { sources: 2 } },
    ]);
  });

  it("takes parts of any kind, and metadata for the item", async () => {
    const parts: readonly Part[] = [
      { kind: "reasoning", id: partId("r"), text: "short" },
      { kind: "tool_call", id: partId("c"), callId: callId("c1"), tool: "t", raw: "{}", input: {} },
      { kind: "structured", id: partId("s"), value: [1] },
    ];
    const { items, outcome } = await byHand((item) => {
      item.append("a long thought");
      void item.replace(parts, { sources: 3 });
    });

    const stored = parts.map((part, at) => ({ ...part, id: `p${at + 2}` })); // after the text
    expect(numbered(items)).toMatchObject([
      { stop: "end", parts: stored, metadata: { sources: 3 } },
    ]);
    expect(outcome).toBe("completed");
  });

  it("stays when the function throws afterwards, and the run fails", async () => {
    const { items, outcome } = await byHand((item) => {
      void item.replace("final");
      throw new Error("no further");
    });

    expect(items).toMatchObject([{ stop: "end", parts: [{ text: "final" }] }]);
    expect(outcome).toBe("failed");
  });

  it("after the function has returned changes nothing", async () => {
    let late: ItemWriter | undefined;
    const { items } = await answerOf(async (run) => {
      const stored = await run.write((item) => {
        late = item;
        item.append("whole");
      });
      late?.append(" late");
      expect(await late?.replace("late")).toEqual(stored);
    });

    expect(items).toMatchObject([{ parts: [{ text: "whole" }] }]);
  });

  it("with parts that are illegal fails the item with what was streamed, awaited or not", async () => {
    const twice: Part = { kind: "text", id: partId("t"), text: "twice" };
    const { items, outcome, cause } = await byHand((item) => {
      item.append("streamed");
      void item.replace([twice, twice]);
    });

    expect(items).toMatchObject([{ stop: "failed", parts: [{ text: "streamed" }] }]);
    expect(outcome).toBe("failed");
    expect(cause?.evidence).toEqual({ op: "replace_item", partId: "t", fault: "part_committed" });
  });
});

describe("an illegal update by hand", () => {
  it("is thrown where it is made, and fails the item also if it is caught there", async () => {
    let thrown: unknown;
    const { items, outcome } = await byHand((item) => {
      item.append("kept");
      try {
        item.annotate({ at: Number.NaN });
      } catch (error) {
        thrown = error;
      }
    });

    expect(thrown).toMatchObject({ code: "agent_failed" });
    expect(items).toMatchObject([
      { stop: "failed", parts: [{ text: "kept" }], cause: { evidence: { op: "set_metadata" } } },
    ]);
    expect(outcome).toBe("failed");
  });

  it("is made good by a replacement", async () => {
    const { items, outcome } = await byHand((item) => {
      try {
        item.annotate({ at: Number.NaN });
      } catch {
        void item.replace("whole");
      }
    });

    expect(items).toMatchObject([{ stop: "end", parts: [{ text: "whole" }] }]);
    expect(outcome).toBe("completed");
  });

  it("is no half of a character: the halves are joined, and one alone becomes a replacement character", async () => {
    const { items, outcome } = await byHand((item) => {
      for (const half of ["a", "\ud83d", "\ude00", "\ude00", "b\ud83d"]) item.append(half);
    });

    expect(items).toMatchObject([{ stop: "end", parts: [{ text: "a😀\ufffdb\ufffd" }] }]);
    expect(outcome).toBe("completed");
  });
});
