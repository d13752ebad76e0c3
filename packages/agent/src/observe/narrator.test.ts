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

test("an operator's reset voids open lanes, and the narration continues after it", () => {
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

test("content without a delta is narrated with its item, so that all of an item is narrated", () => {
  const facts = new Facts();
  const narrate = createNarrator();
  for (const event of [opened(), begin("text"), append("Hel")]) narrate(event);

  const narrated = narrate(
    facts.make({ type: "item_committed", item: item([text("Hello")]), lane: 0, epoch: epochOf(1) }),
  );

  expect(narrated).toMatchObject([
    { type: "assistant_text_delta", text: "lo" },
    { type: "item_committed" },
  ]);
});
