import { packEpoch } from "@millrace/core/ports";
import type { EventLog } from "@millrace/core/ports";
import { follow } from "@millrace/core/reading";
import { createLaneWriter, itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import { textOf } from "@millrace/core";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { createHub } from "@millrace/server/hub";
import { expect, it } from "vitest";
import { until } from "../../packages/stores/src/testing/redis-session.ts";
import { Viewer } from "./kit/viewer.ts";

const ids = { runId: runId("run_1"), turnId: turnId("turn_1"), itemId: itemId("item_1") };

it.each(["a hub", "follow"])(
  "a viewer that joins by %s after the log was lost sees what a silent writer wrote, though the first nudge is lost",
  async (way) => {
    const store = memorySessionStore();
    const record = await store.create({ sessionId: sessionId("quiet") });
    const { uid } = record;
    await store.claim(uid, { from: 0 });
    const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
    await store.open(uid, { lane: 0, epoch, itemId: ids.itemId });
    const held = memoryEventLog();
    let nudges = 0;
    const log: EventLog = {
      ...held,
      nudge: async (of, nudge) => {
        nudges += nudge.kind === "reseed" ? 1 : 0;
        if (nudges !== 1) await held.nudge(of, nudge);
      },
    };
    const place = { log, clock: systemClock, uid, sessionId: record.sessionId };
    const writer = createLaneWriter({ ...place, ...ids, lane: 0, epoch, head: 1, author: "model" });
    writer.write({ op: "begin_part", partId: partId("p1"), kind: "text" });
    writer.write({ op: "append_text", partId: partId("p1"), chunk: "all that is said" });
    await writer.flush();
    held.lose(uid, 0);

    using hub = createHub({ store, log, clock: systemClock, pollMs: 100 });
    const watch =
      way === "follow"
        ? (options: Parameters<typeof hub.watch>[0]) =>
            follow({ ...options, store, log, clock: systemClock, pollMs: 100 })
        : hub.watch;
    await using viewer = new Viewer(record, { name: way, watch });

    await until(() => {
      const [part] = viewer.state.lanes[0]?.draft.parts ?? [];
      return part?.state === "open" && textOf(part) === "all that is said";
    }, "it is shown");
    expect(nudges).toBeGreaterThan(1);
    await writer.close();
  },
);
