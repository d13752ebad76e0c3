import { callId, partId } from "@millrace/core/writing";
import type { LiveEvent, SessionUid } from "@millrace/core";
import type { EventLog } from "@millrace/core/ports";
import { assertEqual } from "./case.ts";
import type { Case } from "./case.ts";
import { batchAt, epochOf, laneOf, logCase, store } from "./event-log-fixture.ts";
import type { EventLogFixture } from "./event-log-fixture.ts";
import { tailSession } from "./event-log-received.ts";

const one = epochOf(1);
const part = partId("part_1");
const delta = (text: string): LiveEvent => ({
  type: "content_delta",
  delta: { op: "append_text", partId: part, chunk: text },
});

/** Batches are returned unchanged, by reads and by subscriptions. */
export const contentCases: readonly Case<EventLogFixture>[] = [
  logCase("bytes come back as they were", async (log, uid) => {
    const chunk = Uint8Array.from({ length: 256 }, (_, at) => at);
    await assertSurvives(log, uid, [
      {
        type: "content_delta",
        delta: { op: "begin_part", partId: part, kind: "media", mediaType: "image/png" },
      },
      { type: "content_delta", delta: { op: "append_bytes", partId: part, chunk } },
      {
        type: "content_delta",
        delta: {
          op: "commit_part",
          partId: part,
          part: { kind: "media", id: part, mediaType: "image/png", bytes: chunk },
        },
      },
    ]);
  }),
  logCase("text of every sort comes back as it was", async (log, uid) => {
    const odd = ["\u0000", "\r\n\n", "é", "👩‍👩‍👧", "\u2028", '"\\', "%s ${x}", "\uFEFF", " "];
    await assertSurvives(log, uid, odd.map(delta));
  }),
  logCase("every sort of live event comes back as it was", async (log, uid) => {
    const cause = { code: "overloaded", message: "try again", retryable: true };
    await assertSurvives(log, uid, [
      { type: "tool_execution_update", callId: callId("call_1"), message: "3 of 7" },
      { type: "retry_scheduled", cause, delayMs: 1_500 },
      { type: "stalled", silentMs: 30_000 },
      { type: "lane_idled" },
      { type: "opaque", original: { type: "from_tomorrow", deep: [{ a: null }, 1.5, "x"] } },
      {
        type: "content_delta",
        delta: { op: "set_metadata", partId: part, metadata: { "": { b: [] } } },
      },
      {
        type: "content_delta",
        delta: { op: "replace_structured", partId: part, value: { a: [1, { b: false }] } },
      },
    ]);
  }),
  logCase("a batch of 100 KB is one batch", async (log, uid) => {
    await assertSurvives(log, uid, [delta("0123456789".repeat(10_240))]);
  }),
  logCase("a batch of 2,000 events is one batch", async (log, uid) => {
    await assertSurvives(
      log,
      uid,
      Array.from({ length: 2_000 }, (_, at) => delta(`${at} `)),
    );
  }),
];

async function assertSurvives(
  log: EventLog,
  uid: SessionUid,
  events: readonly LiveEvent[],
): Promise<void> {
  await store(log, uid, laneOf(one, 0));
  using received = await tailSession(log, uid);
  const batch = batchAt({ epoch: one, first: 1, last: events.length, events });
  const expected = structuredClone(batch);

  await store(log, uid, [batch]);

  assertEqual(await log.read(uid, 0, { epoch: one, seq: 0 }), [expected], "what was read");
  assertEqual(await received.until(1), [expected], "what was received");
}
