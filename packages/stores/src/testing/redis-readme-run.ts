import { packEpoch } from "@millrace/core/ports";
import { follow } from "@millrace/core/reading";
import { createLaneWriter, itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import { memorySessionStore, systemClock } from "@millrace/core/memory";
import { redisLog } from "@millrace/stores/redis";

await using log = redisLog(); // REDIS_URL
const store = memorySessionStore();
const name = sessionId("holiday plans");
const { uid } = await store.create({ sessionId: name });
await store.claim(uid, { from: 0 });

// One process writes an item …
const ids = { runId: runId("r1"), turnId: turnId("t1"), itemId: itemId("i1") };
const lane = { lane: 0, epoch: packEpoch({ incarnation: 1, generation: 1, attempt: 1 }) };
const opened = await store.open(uid, { ...lane, itemId: ids.itemId });
if (opened.outcome !== "opened") throw new Error(opened.outcome);
log.setKey(uid, await store.key(uid)); // so that what others write to Redis is not taken for ours
const place = { log, clock: systemClock, uid, sessionId: name };
const writer = createLaneWriter({ ...place, ...ids, ...lane, head: opened.head, author: "model" });
writer.write({ op: "begin_part", partId: partId("p1"), kind: "text" });
writer.write({ op: "append_text", partId: partId("p1"), chunk: "In the south." });

// … and any other one watches it.
for await (const { message } of follow({ ...place, store })) {
  const text = JSON.stringify(message);
  if (text.includes("In the south.")) break;
}
console.log("seen");
await writer.close();
