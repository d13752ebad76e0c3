import { partId } from "@millrace/core/writing";
import type { Delta } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import { createClient } from "@redis/client";
import { describe, expect, it } from "vitest";
import { sharedRedis } from "../../../../scripts/services/shared.ts";
import { keyedRedisLog } from "../testing/keyed-redis-log.ts";
import { batchAt, epochOf, newUid } from "../testing/redis-batch.ts";
import { keysOf } from "./keys.ts";

const { url, prefix } = await sharedRedis();
const redis = await createClient({ url }).connect();

function batchOf(first: number, ...deltas: readonly Delta[]): Batch {
  const events = deltas.map((delta) => ({ type: "content_delta", delta }) as const);
  return { ...batchAt(1, first, first + deltas.length - 1), events };
}

function textOf(part: string, chunk: string): Delta {
  return { op: "append_text", partId: partId(part), chunk };
}

/** Whether each entry of a lane has its heading. */
async function wholes(lane: string): Promise<readonly boolean[]> {
  const entries = (await redis.xRange(lane, "-", "+")) ?? [];
  return entries.map(({ message }) => message["b"]?.includes('"sessionId"') === true);
}

describe("a lane with short entries", () => {
  it("is read as it was appended, from any position, whatever its batches hold", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const uid = newUid();
    const begin = { op: "begin_part", partId: partId("part_2"), kind: "text" } as const;
    const hostile = '"]}\n\u0000\u2028\ud800 ä👩‍👧 \\","events":[';
    const batches = [
      batchAt(1, 0),
      batchOf(1, textOf("part_1", "one")),
      batchOf(2, textOf("part_1", "")),
      batchOf(3, begin, textOf("part_2", hostile)),
      batchOf(5, textOf("part_2", hostile)),
      batchOf(6, textOf("part_1", "a"), textOf("part_2", "b")),
      batchOf(8, textOf("part_1", "c")),
      { ...batchOf(9, textOf("part_1", "earlier")), time: 5 },
      { ...batchOf(10, textOf("part_1", "with another head")), head: 4 },
      { ...batchOf(11, textOf("part_1", "and on")), head: 4 },
      { ...batchAt(1, 12), events: [{ type: "lane_idled" }] } as Batch,
      { ...batchAt(1, 13, 20), head: 4 }, // one event for eight numbers
    ];
    for (const batch of batches) await log.append(uid, batch);

    expect(await log.read(uid, 0)).toEqual(batches);
    for (const [at, { last: seq, epoch }] of batches.entries()) {
      expect(await log.read(uid, 0, { epoch, seq })).toEqual(batches.slice(at + 1));
    }
    const whole = await wholes(keysOf(prefix, uid).lane(0));
    expect(whole.flatMap((is, at) => (is ? [at] : []))).toEqual([0, 8, 10, 11]);
  });

  it("has a whole one at least every 64 numbers", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const uid = newUid();
    for (let seq = 0; seq < 200; seq += 1) await log.append(uid, batchAt(1, seq));

    const whole = await wholes(keysOf(prefix, uid).lane(0));
    expect(whole.flatMap((is, at) => (is ? [at] : []))).toEqual([0, 64, 128, 192]);
  });

  it("is read without those whose whole one is gone, and their writer is still fenced by them", async () => {
    await using log = keyedRedisLog({ url, prefix });
    const uid = newUid();
    const batches = Array.from({ length: 70 }, (_, seq) => batchAt(2, seq));
    for (const batch of batches) await log.append(uid, batch);
    const key = keysOf(prefix, uid).lane(0);
    await redis.sendCommand(["XTRIM", key, "MINID", "=", `${epochOf(2)}-40`]);

    expect(await log.read(uid, 0)).toEqual(batches.slice(64));
    const last = { epoch: epochOf(2), seq: 69 };
    expect(await log.append(uid, batchAt(1, 0))).toEqual({ outcome: "refused", last });
  });
});
