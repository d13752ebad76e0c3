import { expect, test } from "vitest";
import { sessionId } from "../ids.ts";
import { manualClock } from "../reference/manual-clock.ts";
import { memoryEventLog } from "../reference/memory-event-log.ts";
import { memorySessionStore } from "../reference/memory-session-store.ts";
import { follow } from "./follow.ts";

test("follow throws when the subscription breaks, after what has come", async () => {
  const clock = manualClock();
  const store = memorySessionStore({ clock });
  const memory = memoryEventLog();
  const { uid } = await store.create({ sessionId: sessionId("s") });
  const claimed = await store.claim(uid, { from: 0 });
  const log = {
    ...memory,
    tail: async () =>
      (async function* () {
        if (claimed.outcome === "claimed") yield* claimed.facts;
        throw new Error("the connection broke");
      })(),
  };
  const reader = follow({ store, log, clock, uid, sessionId: sessionId("s") });

  expect((await reader.next()).value?.cursor.head).toBe(1);
  await expect(reader.next()).rejects.toThrow("the connection broke");
});
