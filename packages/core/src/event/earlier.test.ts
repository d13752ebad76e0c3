import { expect, it } from "vitest";
import { facts, item, text, empty } from "../testing/session.ts";
import { apply } from "./apply.ts";
import { packEpoch } from "./epoch.ts";
import { project } from "./project.ts";
import { restore, snapshot } from "./snapshot.ts";
import type { SessionState } from "./state.ts";
import { List } from "../list.ts";

const left = { count: 3, before: 8 };
const state: SessionState = {
  ...empty,
  head: 9,
  items: List.of([item("i4", "user", [text("four")])]),
  earlier: left,
};
const exchanged = { type: "item_replaced", item: item("i1", "model", [text("one")]) } as const;

it("exchanging an item that the state leaves out changes no item", () => {
  const [fact] = facts(10, exchanged);

  const { state: after, verdict } = apply(state, fact!);

  expect(verdict).toBe("applied");
  expect(after.head).toBe(10);
  expect(after.items.toArray()).toEqual(state.items.toArray());
  expect(after.earlier).toEqual(left);
});

it("a lane that ends its item with other content adds it, though the state leaves out items", () => {
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 0 });
  const [fact] = facts(10, { ...exchanged, lane: 0, epoch });

  const { state: after } = apply(state, fact!);

  expect(after.items.toArray().map(({ id }) => id)).toEqual(["i4", "i1"]);
});

it("what is left out stays known through a snapshot and is shown", () => {
  expect(restore(snapshot(state))).toEqual(state);
  expect(project(state).earlier).toEqual(left);
  expect(project({ ...empty }).earlier).toBeUndefined();
});
