import type { Narration } from "@millrace/core";
import { itemId, partId } from "@millrace/core/writing";
import { expect, test } from "vitest";
import { textsOf } from "./text-stream.ts";

const item = itemId("a");

function wrote(text: string, id = item): Narration {
  return { type: "assistant_text_delta", itemId: id, partId: partId("p1"), text };
}

async function joined(...narrations: readonly Narration[]): Promise<string> {
  const pieces: string[] = [];
  const source = (async function* source() {
    yield* narrations;
  })();
  for await (const piece of textsOf(source, async () => undefined)) pieces.push(piece);
  return pieces.join("");
}

test("the pieces of one item are joined without anything between them", async () => {
  expect(await joined(wrote("Hello, "), wrote("world"))).toBe("Hello, world");
});

test("the texts of two items are separated by an empty line", async () => {
  expect(await joined(wrote("Let me look."), wrote("It rains.", itemId("b")))).toBe(
    "Let me look.\n\nIt rains.",
  );
});

test("a text that is written anew follows what is void after an empty line", async () => {
  const superseded: Narration = { type: "attempt_superseded", itemId: item };

  expect(await joined(wrote("half"), superseded, wrote("whole"))).toBe("half\n\nwhole");
});
