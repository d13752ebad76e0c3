import { expect, test } from "vitest";
import { apply } from "../event/apply.ts";
import { packEpoch } from "../event/epoch.ts";
import { restore } from "../event/snapshot.ts";
import { emptyState, findLane } from "../event/state.ts";
import { itemId, partId, runId, sessionId, turnId } from "../ids.ts";
import { manualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { memorySessionStore } from "../reference/memory-session-store.ts";
import { follow } from "../reading/follow.ts";
import { content } from "../testing/delta-programs.ts";
import { createLaneWriter } from "./lane-writer.ts";

const name = sessionId("s");
const ids = { runId: runId("r"), turnId: turnId("t"), itemId: itemId("i") };
const part = partId("p");

test("a viewer that follows an unwatched lane sees what was gathered at once, and each word within 50 ms", async () => {
  const clock = manualClock();
  const store = memorySessionStore({ clock });
  const log = memoryEventLog();
  const { uid } = await store.create({ sessionId: name });
  await store.claim(uid, { from: 0 });
  const { runId: run, turnId: turn } = ids;
  const bodies = [
    { type: "run_started", runId: run },
    { type: "turn_started", runId: run, turnId: turn },
  ] as const;
  await store.append(uid, { incarnation: 1, head: 1, bodies });
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
  const opened = await store.open(uid, { lane: 0, epoch, itemId: ids.itemId });
  if (opened.outcome !== "opened") throw new Error(opened.outcome);
  const place = { log, clock, uid, sessionId: name };
  const { head } = opened;
  const writer = createLaneWriter({ ...place, ...ids, lane: 0, epoch, head, author: "model" });
  const say = (chunk: string): void => {
    writer.write({ op: "append_text", partId: part, chunk });
  };
  writer.write({ op: "begin_part", partId: part, kind: "text" });
  say("first");
  await clock.advance(2_000);
  say(", which waits");
  await clock.advance(60);

  const leave = new AbortController();
  let state = emptyState(uid, name);
  const seen = (): string => {
    const lane = findLane(state, 0);
    return lane === undefined ? "" : content(lane.draft);
  };
  const watching = (async (): Promise<void> => {
    for await (const { message } of follow({ ...place, store, signal: leave.signal })) {
      state = "closedLanes" in message ? restore(message) : apply(state, message).state;
    }
  })();
  await clock.advance(0);
  await clock.advance(0);

  expect(seen()).toBe(content(writer.draft()));
  expect(seen()).toContain("which waits");
  for (const word of [" one", " two", " three"]) {
    say(word);
    await clock.advance(50);
    expect(seen()).toContain(word);
  }
  leave.abort();
  await writer.close();
  await watching;
});
