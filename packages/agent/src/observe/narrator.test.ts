import { expect, test } from "vitest";
import { createNarrator } from "./narrator.ts";
import {
  append,
  begin,
  epochOf,
  Facts,
  item,
  opened,
  reply,
  run,
  text,
  turn,
} from "./testing/events.ts";

test("an operator's reset takes back what is open, and the story goes on after it", () => {
  const facts = new Facts();
  const narrate = createNarrator();
  const before = [
    facts.make({ type: "run_started", runId: run }),
    facts.make({ type: "turn_started", runId: run, turnId: turn }),
    opened(),
    begin("text"),
    append("void"),
  ];
  for (const event of before) narrate(event);

  expect(narrate(facts.make({ type: "session_claimed", incarnation: 2, to: 1 }))).toEqual([
    { type: "attempt_superseded", itemId: reply },
  ]);
  expect(narrate(facts.make({ type: "compaction_started", runId: run }))).toHaveLength(1);
});

test("what came in no delta is told with the item, so that all of an item is told", () => {
  const facts = new Facts();
  const narrate = createNarrator();
  for (const event of [opened(), begin("text"), append("Hel")]) narrate(event);

  const told = narrate(
    facts.make({ type: "item_committed", item: item([text("Hello")]), lane: 0, epoch: epochOf(1) }),
  );

  expect(told).toMatchObject([
    { type: "assistant_text_delta", text: "lo" },
    { type: "item_committed" },
  ]);
});
