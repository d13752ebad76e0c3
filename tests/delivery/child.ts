/**
 * A writer in a process of its own. Each line on its input is a session: its uid, name, head and key.
 * The writer writes a reply into it and prints the processor time of that, in microseconds.
 */
import { createInterface } from "node:readline";
import { packEpoch } from "@millrace/core/ports";
import {
  createLaneWriter,
  itemId,
  partId,
  runId,
  sessionId,
  sessionKey,
  sessionUid,
  turnId,
} from "@millrace/core/writing";
import { systemClock } from "@millrace/core/memory";
import { redisLog } from "@millrace/stores/redis";

const deltas = 600;
const part = partId("p1");
const ids = { runId: runId("run_1"), turnId: turnId("turn_1"), itemId: itemId("live") };
const lane = { lane: 0, epoch: packEpoch({ incarnation: 1, generation: 2, attempt: 1 }) };

await using log = redisLog(); // REDIS_URL

for await (const line of createInterface({ input: process.stdin })) {
  const [uid = "", name = "", head = "", key = ""] = line.split(" ");
  log.setKey(sessionUid(uid), sessionKey(key));
  const writer = createLaneWriter({
    ...ids,
    ...lane,
    log,
    clock: systemClock,
    uid: sessionUid(uid),
    sessionId: sessionId(name),
    head: Number(head),
    author: "model",
  });
  writer.write({ op: "begin_part", partId: part, kind: "text" });
  await writer.flush();
  const before = process.cpuUsage();
  for (let delta = 0; delta < deltas; delta += 1) {
    writer.write({ op: "append_text", partId: part, chunk: `${delta} ` });
    await writer.flush();
  }
  const { user, system } = process.cpuUsage(before);
  await writer.close();
  console.log(String(user + system));
}
