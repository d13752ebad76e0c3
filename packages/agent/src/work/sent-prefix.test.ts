import { itemId, partId } from "@millrace/core/writing";
import type { Item } from "@millrace/core";
import { describe, expect, test } from "vitest";
import { SentPrefix } from "./sent-prefix.ts";

const item = (name: string, text = name): Item => ({
  id: itemId(name),
  author: "user",
  parts: [{ kind: "text", id: partId("p1"), text }],
  stop: "end",
});
const tools = [{ name: "look", input: {} }];
const kept = { instructions: "Help.", tools, transcript: [item("a"), item("b")] };

function changeIn(request: Parameters<SentPrefix["changeIn"]>[0], breaks = 0): string | undefined {
  const sent = new SentPrefix();
  sent.sends(kept, 0);
  sent.keep();
  return sent.changeIn(request, breaks);
}

describe("a request that begins with the one whose reply was kept", () => {
  test.each([
    ["is longer", { ...kept, transcript: [...kept.transcript, item("c")] }],
    ["has equal items in other objects", { ...kept, transcript: [item("a"), item("b")] }],
    ["has updates", { ...kept, updates: [{ after: itemId("b"), text: "New." }] }],
  ])("and %s is no change", (_, request) => {
    expect(changeIn(request)).toBeUndefined();
  });
});

describe("a change before the latest reply", () => {
  test.each([
    ["the instructions", { ...kept, instructions: "Help!" }],
    ["the tools", { ...kept, tools: [] }],
    ["item b", { ...kept, transcript: [item("a"), item("b", "other")] }],
    ["item a", { ...kept, transcript: [item("b")] }],
  ])("is named: %s", (name, request) => {
    expect(changeIn(request)).toBe(name);
  });

  test("of an update is named by its item", () => {
    const sent = new SentPrefix();
    const updates = [{ after: itemId("a"), text: "New." }];
    sent.sends({ ...kept, updates }, 0);
    sent.keep();

    expect(sent.changeIn(kept, 0)).toBe("what changes behind item a");
  });

  test("that a fact has said is not named again", () => {
    expect(changeIn({ ...kept, instructions: "Help!" }, 1)).toBeUndefined();
  });
});

test("a request without a kept reply binds nothing", () => {
  const sent = new SentPrefix();
  sent.sends(kept, 0);

  expect(sent.changeIn({ ...kept, instructions: "Help!" }, 0)).toBeUndefined();
});
