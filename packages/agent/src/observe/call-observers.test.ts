import { partId } from "@millrace/core/writing";
import type { RunEvent } from "@millrace/core";
import { expect, test } from "vitest";
import { callObservers } from "./call-observers.ts";
import { append, delta, Facts, item, reply, text } from "./testing/events.ts";

test("observers are called in the order of registration, before the call returns", () => {
  const seen: string[] = [];

  callObservers([() => seen.push("first"), () => seen.push("second")], append("a"));

  expect(seen).toEqual(["first", "second"]);
});

test("an observer that throws or rejects is reported, and the others are still called", async () => {
  const errors: unknown[] = [];
  const seen: RunEvent[] = [];
  const broken = (): never => {
    throw new Error("broken");
  };
  const late = async (): Promise<never> => {
    throw new Error("late");
  };

  callObservers([broken, late, (event) => seen.push(event)], append("a"), (error) => {
    errors.push(error);
    throw new Error("the reporter is broken too");
  });
  await new Promise((resolve) => setImmediate(resolve));

  expect(seen).toHaveLength(1);
  expect(errors).toMatchObject([{ message: "broken" }, { message: "late" }]);
});

/** Tries to change everything that can be reached. */
function vandal(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (value instanceof Uint8Array) {
    value.fill(0);
    return;
  }
  for (const key of Object.keys(value)) {
    vandal((value as Record<string, unknown>)[key]);
    Reflect.set(value, key, "changed");
    Reflect.deleteProperty(value, key);
  }
  Reflect.set(value, "added", "changed");
}

const facts = new Facts();
const id = partId("p1");
const bytes = (): Uint8Array => Uint8Array.of(1, 2, 3);
const cases: readonly (readonly [string, () => RunEvent])[] = [
  ["text", () => append("words")],
  ["bytes", () => delta({ op: "append_bytes", partId: id, chunk: bytes() })],
  ["a value", () => delta({ op: "replace_structured", partId: id, value: { a: [{ b: 1 }] } })],
  ["metadata", () => delta({ op: "set_metadata", partId: id, metadata: { a: { b: 1 } } })],
  [
    "a part",
    () =>
      delta({
        op: "commit_part",
        partId: id,
        part: { kind: "media", id, mediaType: "image/png", bytes: bytes() },
      }),
  ],
  [
    "an item",
    () =>
      facts.make({
        type: "item_committed",
        item: item([text("words"), { kind: "media", id, mediaType: "image/png", bytes: bytes() }]),
      }),
  ],
  [
    "an input",
    () =>
      facts.make({
        type: "tool_execution_started",
        runId: "r" as never,
        turnId: "t" as never,
        callId: "c" as never,
        tool: "search",
        input: { deep: { list: [1] } },
        itemId: reply,
        lane: 1,
        epoch: 1,
      }),
  ],
];

test.each(cases)(
  "what an observer does to %s reaches neither the next one nor the session",
  (_, make) => {
    const event = make();
    const before = structuredClone(event);
    const held = "delta" in event ? { delta: event.delta } : { ...event };
    const seen: RunEvent[] = [];

    callObservers([vandal, (next) => seen.push(structuredClone(next)), vandal], event);

    expect(seen).toEqual([before]);
    expect(event).toEqual(before);
    expect(held).toEqual("delta" in before ? { delta: before.delta } : before);
  },
);

test("shared objects are not frozen: a tool may change its own input", () => {
  const input = { list: [1] };
  const fact = facts.make({
    type: "tool_execution_started",
    runId: "r" as never,
    turnId: "t" as never,
    callId: "c" as never,
    tool: "search",
    input,
    itemId: reply,
    lane: 1,
    epoch: 1,
  });

  callObservers([() => undefined], fact);
  input.list.push(2);

  expect(input).toEqual({ list: [1, 2] });
});

test("a key that names a prototype is a key like others", () => {
  const value = Object.fromEntries([["__proto__", { a: 1 }]]);
  const seen: RunEvent[] = [];

  callObservers(
    [(event) => seen.push(event)],
    delta({ op: "replace_structured", partId: id, value }),
  );

  expect(JSON.stringify(seen[0])).toContain('"value":{"__proto__":{"a":1}}');
});
