import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "@millrace/core/memory";
import { createLaneWriter, itemId, partId, runId, sessionId, turnId } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { Batch, EventLog } from "@millrace/core/ports";
import { createClient } from "@redis/client";
import { describe, expect, it } from "vitest";
import { ask, startRedis } from "../../../../scripts/services/redis.ts";
import type { Server } from "../../../../scripts/services/server.ts";
import { keyedRedisLog } from "../testing/keyed-redis-log.ts";
import { epochOf, newUid } from "../testing/redis-batch.ts";
import { keysOf } from "./keys.ts";
import { macLength } from "./seal.ts";

/** A delta of 60 bytes. */
const chunk = "sixty characters, which is what a quick model says in 100 ms";
const prefix = "bytes:";

/** Deltas whose memory is averaged: so many that a buffer of Redis does not count. */
const total = 4_000;

/** The bytes of one delta. */
interface Bytes {
  /** What MEMORY USAGE estimates. It counts about 500 bytes for each further node of a stream. */
  readonly estimated: number;
  /** What Redis allocates. */
  readonly allocated: number;
}

/** What Redis needs for each delta of a turn that is written by so many in a batch. */
async function bytesPerDelta(server: Server, deltas: number, perBatch: number): Promise<Bytes> {
  const before = await allocatedBytes(server);
  const estimated = await estimatedBytes(server, deltas, perBatch);
  const allocated = (await allocatedBytes(server)) - before;
  return { estimated: estimated / total, allocated: allocated / total };
}

async function estimatedBytes({ url }: Server, deltas: number, perBatch: number): Promise<number> {
  await using log = keyedRedisLog({ url, prefix });
  const redis = await createClient({ url }).connect();
  let bytes = 0;
  for (let turn = 0; turn < total / deltas; turn += 1) {
    const uid = await writeTurn(log, deltas, perBatch);
    const key = keysOf(prefix, uid).lane(0);
    bytes += Number(await redis.sendCommand(["MEMORY", "USAGE", key, "SAMPLES", "0"]));
    // None of it is cheap because it is missing.
    expect(textOf(await log.read(uid, 0))).toBe(chunk.repeat(deltas));
  }
  await redis.close();
  return bytes;
}

async function writeTurn(log: EventLog, deltas: number, perBatch: number): Promise<SessionUid> {
  const uid = newUid();
  const part = partId("part_1");
  const name = uid.slice(-8);
  const ids = {
    sessionId: sessionId(uid),
    runId: runId(`run_${name}`),
    turnId: turnId(`turn_${name}`),
    itemId: itemId(`item_${name}`),
  };
  const place = { log, clock: systemClock, uid, ...ids, lane: 0, epoch: epochOf(1) };
  const writer = createLaneWriter({ ...place, head: 3, author: "model", windowMs: 60_000 });
  writer.write({ op: "begin_part", partId: part, kind: "text" });
  for (let n = 1; n <= deltas; n += 1) {
    writer.write({ op: "append_text", partId: part, chunk });
    if (n % perBatch === 0) await writer.flush();
  }
  await writer.flush();
  await writer.close();
  return uid;
}

function textOf(batches: readonly Batch[]): string {
  return batches
    .flatMap(({ events }) => events)
    .map((event) =>
      event.type === "content_delta" && event.delta.op === "append_text" ? event.delta.chunk : "",
    )
    .join("");
}

/** Without the tables of keys. Asked while nothing else is connected, so that no buffers count. */
async function allocatedBytes({ port }: Server): Promise<number> {
  await sleep(50); // until Redis has freed what the connections before had
  return Number(/^used_memory_dataset:(\d+)/m.exec(await ask(port, "INFO memory"))?.[1]);
}

/**
 * Besides the MAC's 22. One by one, a turn needs three nodes of 1024: texts and MACs alone fill nearly two, and
 * the last is allocated whole.
 */
const limits = {
  1024: { oneByOne: [205, 158], by5: [148, 118], by20: [140, 105] },
  4096: { oneByOne: [230, 210], by5: [230, 210], by20: [230, 210] },
} as const;

describe("a 60-byte delta of a turn of 20", () => {
  it.each([1024, 4096] as const)("takes few bytes with nodes of %i", async (size) => {
    await using server = await startRedis({ settings: { "stream-node-max-bytes": `${size}` } });
    await estimatedBytes(server, 20, 20); // what Redis allocates once
    const figures = {
      oneByOne: await bytesPerDelta(server, 20, 1),
      by5: await bytesPerDelta(server, 20, 5),
      by20: await bytesPerDelta(server, 20, 20),
    };
    const long = await bytesPerDelta(server, 500, 1);

    const found = Object.entries({ ...figures, "one by one of 500": long }).map(
      ([way, { estimated, allocated }]) =>
        `${way} ${estimated.toFixed(0)} (allocated ${allocated.toFixed(0)})`,
    );
    console.log(`count: bytes of a delta with nodes of ${size}: ${found.join(", ")}`);
    for (const way of ["oneByOne", "by5", "by20"] as const) {
      const [estimated, allocated] = limits[size][way];
      expect(figures[way].estimated).toBeLessThanOrEqual(estimated + macLength);
      expect(figures[way].allocated).toBeLessThanOrEqual(allocated + macLength);
    }
    expect(long.estimated).toBeLessThanOrEqual(100 + macLength);
  });
});
