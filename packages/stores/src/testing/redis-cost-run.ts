/**
 * Prints what a batch costs this process, in microseconds of the processor, as JSON. Redis has a
 * process of its own, and so has this: a test runner's modules are slower than Node's.
 */
import { encodeMessage } from "@millrace/core/wire";
import {
  createLaneWriter,
  itemId,
  partId,
  runId,
  sessionId,
  sessionKey,
  turnId,
} from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import { systemClock } from "@millrace/core/memory";
import { redisLog } from "@millrace/stores/redis";
import { createClient } from "@redis/client";
import { Seal } from "../redis/seal.ts";
import { batchAt, epochOf, newUid } from "./redis-batch.ts";

const url = process.env["REDIS_URL"] ?? "";
const prefix = "cost:";
const lanes = 64;
const last = 120;
/** Batches of each lane until it is another's turn. */
const turnLength = 10;
const rounds = 25;
const key = sessionKey("A".repeat(43));
const part = partId("part_1");
/** A delta of 60 bytes. */
const chunk = "sixty characters, which is what a quick model says in 100 ms";

await using log = redisLog({ url, prefix });
// Without its timer for each command the library is at its quickest.
const quick = await createClient({ url, commandOptions: { timeout: 0 } }).connect();
const usual = await createClient({ url }).connect();

/** A session whose key the log has. */
function keyedUid(): SessionUid {
  const uid = newUid();
  log.setKey(uid, key);
  return uid;
}

/** Batches of one session and the bytes of each. Each session has its own ids, as in life. */
interface Script {
  readonly uid: SessionUid;
  readonly batches: readonly Batch[];
  readonly texts: readonly string[];
  /** The same under a MAC. */
  readonly sealed: readonly string[];
  readonly seal: Seal;
}

/** 50 ms of a quick model: about 20 characters in one delta. */
function scriptOf(uid: SessionUid): Script {
  const delta = { op: "append_text", partId: part, chunk: "twenty characters ok" } as const;
  const batches = Array.from({ length: last + 1 }, (_, seq): Batch => {
    const batch = { ...batchAt(1, seq), ...idsOf(uid) };
    return seq === 0 ? batch : { ...batch, events: [{ type: "content_delta", delta }] };
  });
  const seal = new Seal(uid, key);
  const texts = batches.map(encodeMessage);
  return { uid, batches, texts, sealed: texts.map((text) => seal.seal("batch", text)), seal };
}

function idsOf(uid: SessionUid) {
  const name = uid.slice(-8);
  return {
    sessionId: sessionId(uid),
    runId: runId(`run_${name}`),
    turnId: turnId(`turn_${name}`),
    itemId: itemId(`item_${name}`),
  };
}

type Append = (script: Script, seq: number) => Promise<unknown>;

/** The commands and nothing else, in keys of their own. */
const bare =
  (name: string, client: typeof quick, textOf: (script: Script, seq: number) => string): Append =>
  async (script, seq) => {
    const key = `${prefix}{${script.uid}}:${name}:0`;
    const id = `${epochOf(1)}-${seq}`;
    const text = textOf(script, seq);
    const add =
      seq === 0 ? ["XADD", key, id, "b", text] : ["XADD", key, "NOMKSTREAM", id, "b", text];
    await Promise.all([
      client.sendCommand(add),
      client.sendCommand(["SPUBLISH", `${prefix}{${script.uid}}:${name}`, text]),
    ]);
  };

const ready = ({ sealed }: Script, seq: number): string => sealed[seq] ?? "";
const contenders: readonly (readonly [string, Append])[] = [
  ["append", ({ uid, batches }, seq) => log.append(uid, batches[seq] as Batch)],
  /** The bytes are encoded and sealed beforehand. */
  ["given", bare("given", quick, ready)],
  /** The bytes are encoded beforehand; each append computes the MAC, as every writer must. */
  ["sealed", bare("sealed", quick, ({ texts, seal }, seq) => seal.seal("batch", texts[seq] ?? ""))],
  ["encoded", bare("encoded", quick, ({ batches }, seq) => encodeMessage(batches[seq] as Batch))],
  /** The bytes are encoded and sealed beforehand, and the client has its default options. */
  ["usual", bare("usual", usual, ready)],
];

async function cpu(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const scripts = Array.from({ length: lanes }, () => scriptOf(keyedUid()));

/**
 * The cost of a batch by each contender, in one round on an empty Redis. They take turns every few
 * milliseconds, in alternating order, so that noise and garbage collection affect all alike.
 */
async function appendCosts(): Promise<ReadonlyMap<string, number>> {
  await quick.flushAll();
  const costs = new Map(contenders.map(([name]) => [name, 0]));
  for (const [, append] of contenders)
    await Promise.all(scripts.map((script) => append(script, 0)));
  for (let from = 1, turn = 0; from <= last; from += turnLength, turn += 1) {
    for (const [name, append] of turn % 2 === 0 ? contenders : contenders.toReversed()) {
      const write = async (script: Script): Promise<void> => {
        for (let seq = from; seq < from + turnLength; seq += 1) await append(script, seq);
      };
      const spent = await cpu(() => Promise.all(scripts.map(write)));
      costs.set(name, (costs.get(name) ?? 0) + spent / (lanes * last));
    }
  }
  return costs;
}

/** A delta each in an entry of its own, 128 in a packet. */
async function bareDeltaCost(client: typeof quick): Promise<number> {
  const uids = Array.from({ length: lanes }, newUid);
  const text = JSON.stringify(chunk);
  const work = async (): Promise<void> => {
    for (const uid of uids) {
      const key = `${prefix}{${uid}}:deltas`;
      const sent = Array.from({ length: 128 }, (_, seq) =>
        client.sendCommand(["XADD", key, `1-${seq + 1}`, "b", text]),
      );
      await Promise.all(sent);
    }
  };
  return (await cpu(work)) / (lanes * 128);
}

/** A delta through a lane writer: folded, gathered with others, encoded, stored and announced. */
async function gatheredDeltaCost(perBatch: number): Promise<number> {
  const writers = Array.from({ length: lanes }, () => {
    const uid = keyedUid();
    const place = { log, clock: systemClock, uid, ...idsOf(uid), lane: 0, epoch: epochOf(1) };
    const writer = createLaneWriter({ ...place, head: 3, author: "model", windowMs: 60_000 });
    writer.write({ op: "begin_part", partId: part, kind: "text" });
    writer.write({ op: "append_text", partId: part, chunk });
    return writer;
  });
  await Promise.all(writers.map((writer) => writer.flush()));
  const batches = Math.ceil(128 / perBatch);
  const cost = await cpu(async () => {
    for (let batch = 0; batch < batches; batch += 1) {
      for (const writer of writers) {
        for (let n = 0; n < perBatch; n += 1) {
          writer.write({ op: "append_text", partId: part, chunk });
        }
      }
      await Promise.all(writers.map((writer) => writer.flush()));
    }
  });
  await Promise.all(writers.map((writer) => writer.close()));
  return cost / (lanes * batches * perBatch);
}

const append = [];
for (let round = 0; round < rounds; round += 1) append.push(await appendCosts());
// Other load on the machine only adds: of many short rounds the least counts.
const least: Record<string, number> = {};
const take = (name: string, cost: number): void => {
  least[name] = Math.min(least[name] ?? Infinity, cost);
};
for (let round = 0; round < rounds; round += 1) {
  take("bareDelta", await bareDeltaCost(quick));
  take("usualDelta", await bareDeltaCost(usual));
  for (const perBatch of [5, 16, 64]) take(`by${perBatch}`, await gatheredDeltaCost(perBatch));
  await quick.flushAll();
}
console.log(
  JSON.stringify({
    ...medians(append),
    ...least,
    bytes: scriptOf(keyedUid()).sealed[1]?.length,
  }),
);
quick.destroy();
usual.destroy();

function medians(taken: readonly ReadonlyMap<string, number>[]): Record<string, number> {
  const median = (name: string): number =>
    taken.map((costs) => costs.get(name) ?? NaN).toSorted((a, b) => a - b)[taken.length >> 1] ??
    NaN;
  return Object.fromEntries(contenders.map(([name]) => [name, median(name)]));
}
