import { expect, it, vi } from "vitest";
import type { Delta } from "../delta/delta.ts";
import { emptyDraft } from "../delta/empty-draft.ts";
import { partId } from "../ids.ts";
import { growth, notQuadratic } from "../../../../tests/kit/growth.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { createModelStream } from "./model-stream.ts";

vi.setConfig({ testTimeout: patience });

const [p1, p2] = [partId("p1"), partId("p2")];
const limits = { ...emptyDraft().limits, text: Infinity };

function append(chunk: string, id = p1): Delta {
  return { op: "append_text", partId: id, chunk };
}

it.each<[string, number, (size: number) => readonly Delta[]]>([
  ["one part, letter by letter", 25_000, (size) => Array<Delta>(size).fill(append("x"))],
  ["one part, in long chunks", 25_000, (size) => Array<Delta>(size).fill(append("x".repeat(512)))],
  [
    "two parts in turn",
    5_000,
    (size) => Array.from({ length: size }, (_, at) => append("x", at % 2 ? p1 : p2)),
  ],
])("deltas that nobody takes cost linear time: %s", async (_, least, make) => {
  const ratio = await growth(least, (size) => {
    const deltas = make(size);
    const stream = () =>
      createModelStream({
        model: "test/model",
        limits,
        produce: async (writer) => {
          for (const id of [p1, p2]) writer.emit({ op: "begin_part", partId: id, kind: "text" });
          for (const delta of deltas) writer.emit(delta);
          return { stop: "truncated", cause: { code: "cut", message: "cut" } };
        },
      });
    return async () => expect((await stream().result).stop).toBe("truncated");
  });

  expect(ratio).toBeLessThan(notQuadratic);
});
