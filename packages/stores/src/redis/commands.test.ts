import { createClient } from "@redis/client";
import { expect, it } from "vitest";
import { startRedis } from "../../../../scripts/services/redis.ts";
import { keyedRedisLog } from "../testing/keyed-redis-log.ts";
import { batchAt, newUid } from "../testing/redis-batch.ts";
import { openRedisSession, until } from "../testing/redis-session.ts";

/** What the log itself sends, beside what the client library does to connect. */
const ours =
  "expire get ping sadd set smembers spublish ssubscribe sunsubscribe unlink xadd xrange xrevrange";

/** Does all that a log can do. */
async function useAll(url: string): Promise<void> {
  await using log = keyedRedisLog({ url, timeoutMs: 200 });
  const uid = newUid();
  const leave = new AbortController();
  await log.tail(uid, { signal: leave.signal });
  await log.nudges(uid);
  await log.append(uid, batchAt(1, 0));
  for (let seq = 1; seq < 70; seq += 1) await log.append(uid, batchAt(1, seq));
  await log.append(uid, batchAt(1, 3)); // refused
  await log.append(newUid(), batchAt(1, 3)); // absent
  await log.read(uid, 0);
  leave.abort();
  const session = await openRedisSession();
  const reply = await session.start(log, 1);
  await using viewer = session.watch(log);
  reply.append("text");
  await until(() => viewer.text() === "text", "it is seen");
  await reply.commit();
  await log.remove(uid);
}

it("the log sends no command that Redis 7.0 lacks, which is what Valkey began from", async () => {
  await using server = await startRedis();
  await useAll(server.url);
  const admin = await createClient({ url: server.url }).connect();
  const stats = await admin.info("commandstats");
  const sent = [...stats.matchAll(/^cmdstat_([^:|]+)(?:\|([^:]+))?:calls=(\d+)/gm)]
    .filter(([, , , calls]) => Number(calls) > 0)
    .map(([, name = ""]) => name);
  const names = ours.split(" ").filter((name) => sent.includes(name));
  const docs = (await admin.sendCommand(["COMMAND", "DOCS", ...ours.split(" ")])) as unknown;
  const since = new Map(
    Object.entries(docs as Readonly<Record<string, { readonly since: string }>>).map(
      ([name, { since: version }]) => [name, version],
    ),
  );
  admin.destroy();

  const beside = [...new Set(sent)].filter((name) => !names.includes(name));
  console.log(`count: ${names.length} commands (${names.join(" ")}), beside ${beside.join(" ")}`);
  expect(names).toEqual(ours.split(" "));
  expect(
    beside.filter((name) => !["hello", "client", "info", "command", "quit"].includes(name)),
  ).toEqual([]);
  for (const name of names) {
    const [major = NaN, minor = NaN] = (since.get(name) ?? "").split(".").map(Number);
    expect(major < 7 || (major === 7 && minor === 0), `${name} is of ${since.get(name)}`).toBe(
      true,
    );
  }
});
