/**
 * Prints what a delta costs Redis and this process, in microseconds of the processor, as JSON: in lanes
 * whose windows end together, and in lanes whose windows end one by one. Time is counted in steps, and a
 * step ends when Redis has answered: other load on the machine would bring appends together by itself.
 *
 *     npm run services -- redis run node --conditions=@millrace/source packages/stores/src/testing/aligned-cost-run.ts
 *
 * With OLD_WRITER, the `packages/core/src/lane/lane-writer.ts` of another checkout, that one is measured
 * in the same run:
 *
 *     git worktree add ../old <commit> && OLD_WRITER=$PWD/../old/packages/core/src/lane/lane-writer.ts npm run …
 */
import { setImmediate as turn } from "node:timers/promises";
import {
  createLaneWriter,
  itemId,
  partId,
  runId,
  sessionId,
  sessionKey,
  turnId,
} from "@millrace/core/writing";
import type { Clock, EventLog } from "@millrace/core/ports";
import { redisLog } from "@millrace/stores/redis";
import { createClient } from "@redis/client";
import { epochOf, newUid } from "./redis-batch.ts";

const url = process.env["REDIS_URL"] ?? "";
const oldWriter = process.env["OLD_WRITER"];
const lanes = 100;
const deltaEveryMs = 20;
const windowMs = 50;
/** All lanes have begun by then. */
const warmUpMs = 200;
const roundMs = 1_000;
const rounds = 5;
const key = sessionKey("A".repeat(43));
const part = partId("part_1");

await using redis = redisLog({ url, prefix: "aligned:" });
const client = await createClient({ url }).connect();

let batches = 0;
const underWay = new Set<Promise<unknown>>();
/** Every lane counts as watched: an unwatched one has a window of a second. */
const log: EventLog = {
  ...redis,
  append: async (uid, batch) => {
    batches += 1;
    const appending = redis.append(uid, batch);
    underWay.add(appending);
    const answer = await appending;
    underWay.delete(appending);
    return answer.outcome === "stored" ? { outcome: "stored", watched: true } : answer;
  },
};

/** A clock that moves by a millisecond at a time. Waking sleepers costs no search. */
class StepClock implements Clock {
  #now = 0;
  readonly #due = new Map<number, (() => void)[]>();
  readonly now = (): number => this.#now;
  readonly monotonic = (): number => this.#now;
  readonly sleep = (ms: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const at = this.#now + Math.max(1, Math.ceil(ms));
      const due = this.#due.get(at) ?? [];
      due.push(resolve);
      this.#due.set(at, due);
      signal?.addEventListener("abort", () => resolve(), { once: true });
    });

  readonly after = (ms: number, call: () => void): (() => void) => {
    const takenBack = new AbortController();
    void this.sleep(ms).then(() => (takenBack.signal.aborted ? undefined : call()));
    return () => takenBack.abort();
  };

  /** One millisecond, and all that is written in it. */
  async step(): Promise<void> {
    this.#now += 1;
    for (const wake of this.#due.get(this.#now) ?? []) wake();
    this.#due.delete(this.#now);
    await turn();
    while (underWay.size > 0) {
      await Promise.all(underWay);
      await turn();
    }
  }
}

type Create = typeof createLaneWriter;
/** The clock of a lane. */
type ClockOf = (clock: Clock, lane: number) => Clock;
const shared: ClockOf = (clock) => clock;
/** Windows end at multiples of their length by the clock: one that is ahead ends them at another time. */
const ahead: ClockOf = (clock, lane) => ({
  ...clock,
  monotonic: () => clock.monotonic() + ((lane * 7) % windowMs),
});
const contenders: (readonly [name: string, create: Create, clockOf: ClockOf])[] = [
  ["aligned", createLaneWriter, shared],
  ["spread", createLaneWriter, ahead],
];
if (oldWriter !== undefined) {
  const old = (await import(oldWriter)) as { readonly createLaneWriter: Create };
  contenders.push(["old", old.createLaneWriter, shared]);
}

interface Spent {
  readonly redis: number;
  readonly process: number;
  /** Batches for each delta. */
  readonly batches: number;
  /** How often Redis read from a socket, for each delta. No noise is in it. */
  readonly reads: number;
}

async function spent(): Promise<Spent> {
  const info = await client.info();
  const figure = (name: string): number =>
    Number(new RegExp(`${name}:([0-9.]+)`).exec(info)?.[1] ?? NaN);
  const { user, system } = process.cpuUsage();
  const server = figure("used_cpu_user") + figure("used_cpu_sys");
  const reads = figure("total_reads_processed");
  return { redis: server * 1e6, process: user + system, batches, reads };
}

/** Streams of 50 deltas a second that began at different times. */
async function measure(create: Create, clockOf: ClockOf): Promise<Spent> {
  await client.flushAll();
  const clock = new StepClock();
  const writers = Array.from({ length: lanes }, (_, at) => {
    const uid = newUid();
    redis.setKey(uid, key);
    const ids = { sessionId: sessionId(uid), runId: runId("r"), turnId: turnId("t") };
    const own = { log, clock: clockOf(clock, at), windowMs };
    const place = { ...own, uid, ...ids, itemId: itemId("i"), lane: 0 };
    return create({ ...place, epoch: epochOf(1), head: 3, author: "model" });
  });
  let count = 0;
  const stream = async (fromMs: number, toMs: number): Promise<void> => {
    for (let now = fromMs; now < toMs; now += 1) {
      for (const [at, writer] of writers.entries()) {
        const age = now - ((at * 7) % warmUpMs);
        if (age < 0 || age % deltaEveryMs !== 0) continue;
        if (age === 0) writer.write({ op: "begin_part", partId: part, kind: "text" });
        writer.write({ op: "append_text", partId: part, chunk: "a few words of it" });
        count += 1;
      }
      await clock.step();
    }
  };
  await stream(0, warmUpMs);
  const before = await spent();
  count = 0;
  await stream(warmUpMs, warmUpMs + roundMs);
  const after = await spent();
  await Promise.all(writers.map((writer) => writer.close()));
  return {
    redis: (after.redis - before.redis) / count,
    process: (after.process - before.process) / count,
    batches: (after.batches - before.batches) / count,
    reads: (after.reads - before.reads) / count,
  };
}

// Other load on the machine only adds: the least of several rounds counts. They take turns.
const least: Record<string, Spent> = {};
for (let round = 0; round < rounds; round += 1) {
  for (const [name, create, clockOf] of round % 2 === 0 ? contenders : contenders.toReversed()) {
    const cost = await measure(create, clockOf);
    const known = least[name] ?? cost;
    least[name] = {
      redis: Math.min(known.redis, cost.redis),
      process: Math.min(known.process, cost.process),
      batches: Math.min(known.batches, cost.batches),
      reads: Math.min(known.reads, cost.reads),
    };
  }
}
console.log(JSON.stringify(least));
client.destroy();
