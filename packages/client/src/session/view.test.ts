import { project } from "@millrace/core";
import type { Item } from "@millrace/core";
import { emptyState } from "@millrace/core/reading";
import { callId, itemId, List, partId, sessionId, sessionUid } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { withOlder } from "./view.ts";

const asks: Item = {
  id: itemId("item_call"),
  author: "model",
  stop: "tools",
  parts: [
    {
      id: partId("p1"),
      kind: "tool_call",
      callId: callId("c1"),
      tool: "add",
      raw: "{}",
      input: {},
    },
  ],
};
const answers: Item = {
  id: itemId("item_answer"),
  author: "tool",
  stop: "end",
  parts: [
    {
      id: partId("p2"),
      kind: "tool_result",
      callId: callId("c1"),
      tool: "add",
      status: "ok",
      text: "2",
      output: 2,
    },
  ],
};
const says: Item = {
  id: itemId("item_text"),
  author: "model",
  stop: "end",
  parts: [{ id: partId("p3"), kind: "text", text: "Two." }],
};

it("a call on an older page shows its answer, also if the answer is the first of the newer items", () => {
  const state = {
    ...emptyState(sessionUid("u1"), sessionId("s")),
    items: List.of([answers, says]),
    earlier: { count: 3, before: 9 },
  };
  const view = project(state);
  const older = { items: [asks], from: "4~item_call" };
  const shown = withOlder(view, state, older);

  expect(shown.items.map(({ id }) => id)).toEqual(["item_call", "item_text"]);
  expect(shown.items[0]?.parts).toMatchObject([
    { kind: "tool_call", state: "finished", output: 2 },
  ]);
  expect(shown.earlier).toEqual({ count: 2, before: 9 });
  expect(withOlder(view, state, older).items[0]).toBe(shown.items[0]); // a screen can skip it
  expect(withOlder(view, state, { ...older, from: undefined }).earlier).toBeUndefined();
  expect(withOlder(view, state, undefined)).toEqual({ items: view.items, earlier: view.earlier });
});
