/**
 * Measures, in a process of its own, what it takes from a stored fact or an appended batch to a
 * viewer of a hub. Each line on its input is one turn, whose figures it prints as JSON. It uses nothing that the tree of an older commit lacks,
 * but where it looks for it first. `WAY` is "carried": announcements carry facts; or "read": the
 * reader takes an announcement as a hint and reads the store.
 */
import { packEpoch } from "@millrace/core/ports";
import type { Batch, EventLog, SessionStore } from "@millrace/core/ports";
import {
  createLaneWriter,
  inputId,
  itemId,
  partId,
  runId,
  sessionId,
  turnId,
} from "@millrace/core/writing";
import type { Fact, SessionUid } from "@millrace/core";
import { systemClock } from "@millrace/core/memory";
import { createInterface } from "node:readline";
import { createHub } from "@millrace/server/hub";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { createClient } from "@redis/client";

const { POSTGRES = "", REDIS = "", PREFIX = "", WAY = "carried" } = process.env;
const sessions = 4;
const rounds = 40;
/** About what a prompt or an item has. */
const words = "word ".repeat(120);
const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });

await using store = postgresStore({ url: POSTGRES });
await using log = redisLog({ url: REDIS, prefix: PREFIX });
await using hubStore = postgresStore({ url: POSTGRES });
await using hubLog = redisLog({ url: REDIS, prefix: PREFIX });
const raw = await createClient({ url: REDIS }).connect();
await store.migrate();

let hubReads = 0;
const counted: SessionStore = {
  ...hubStore,
  read: (uid, options) => {
    hubReads += 1;
    return hubStore.read(uid, options);
  },
};
/** Announcements without their content: every one is a read of the store. */
const hinted: EventLog = {
  ...hubLog,
  tail: async (uid, options) => {
    const tail = await hubLog.tail(uid, options);
    return (async function* readAtHints(): AsyncGenerator<Fact | Batch, void, undefined> {
      let known = await hubStore.head(uid);
      for await (const message of tail) {
        if (!("n" in message)) yield message;
        else if (message.n > known) {
          for (const fact of await counted.read(uid, { after: known })) {
            known = fact.n;
            yield fact;
          }
        }
      }
    })();
  },
};
using hub = createHub({
  store: counted,
  log: WAY === "read" ? hinted : hubLog,
  clock: systemClock,
  pollMs: 60_000,
});

/** One session, its viewer, and what is waited for. */
interface Watched {
  readonly uid: SessionUid;
  readonly name: ReturnType<typeof sessionId>;
  /** Resolves when the viewer receives the next fact or batch. */
  next: () => Promise<number>;
}

const bytes = { facts: 0, factCount: 0, batches: 0, batchCount: 0 };
const factTimes: number[] = [];
const batchTimes: number[] = [];
let turn = 0;

async function open(number: number, signal: AbortSignal): Promise<Watched> {
  const name = sessionId(`latency-${turn}-${number}`);
  const { uid } = await store.create({ sessionId: name });
  // An older tree has no keys.
  const keyed: { setKey?: EventLog["setKey"] } = log;
  if (keyed.setKey !== undefined) keyed.setKey(uid, await store.key(uid));
  await store.claim(uid, { from: 0 });
  const session = `${PREFIX}{${uid}}`;
  const ear = await raw.duplicate().connect();
  signal.addEventListener("abort", () => ear.destroy());
  await ear.sSubscribe(`${session}:facts`, (text) => {
    bytes.facts += text.length;
    bytes.factCount += 1;
  });
  await ear.sSubscribe(`${session}:tail`, (text) => {
    bytes.batches += text.length;
    bytes.batchCount += 1;
  });
  let told: ((at: number) => void) | undefined;
  let ready = (): void => undefined;
  const joined = new Promise<void>((resolve) => (ready = resolve));
  void (async () => {
    for await (const _ of hub.watch({ uid, sessionId: name, signal })) {
      ready();
      told?.(performance.now());
    }
  })();
  await joined;
  return { uid, name, next: () => new Promise((resolve) => (told = resolve)) };
}

async function sayFacts({ uid, next }: Watched): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    const id = inputId(`input_${round}`);
    const part = { kind: "text", id: partId("p"), text: words } as const;
    const body = {
      type: "input_accepted",
      inputId: id,
      input: { kind: "prompt", parts: [part] },
    } as const;
    const told = next();
    const answer = await store.accept(uid, id, body);
    const start = performance.now();
    for (const fact of answer.outcome === "accepted" ? answer.facts : [])
      void log.announce(uid, fact);
    factTimes.push((await told) - start);
  }
}

async function sayBatches({ uid, name, next }: Watched): Promise<void> {
  const ids = { runId: runId("r"), turnId: turnId("t"), itemId: itemId("i") };
  const place = { log, clock: systemClock, uid, sessionId: name, lane: 0, epoch, ...ids };
  const opened = await store.open(uid, { lane: 0, epoch, itemId: ids.itemId });
  if (opened.outcome !== "opened") throw new Error(opened.outcome);
  const writer = createLaneWriter({
    ...place,
    head: opened.head,
    author: "model",
    windowMs: 60_000,
  });
  const first = next();
  writer.write({ op: "begin_part", partId: partId("p"), kind: "text" });
  await Promise.all([first, writer.flush()]);
  for (let round = 0; round < rounds; round += 1) {
    const told = next();
    writer.write({
      op: "append_text",
      partId: partId("p"),
      chunk: "sixty characters of a model, which is a batch of one delta ",
    });
    const start = performance.now();
    void writer.flush();
    batchTimes.push((await told) - start);
  }
  await writer.close();
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / (sessions * rounds);
}

function quantile(times: readonly number[], part: number): number {
  return times.toSorted((left, right) => left - right)[Math.floor(times.length * part)] ?? NaN;
}

for await (const _ of createInterface({ input: process.stdin })) {
  const leave = new AbortController();
  turn += 1;
  for (const times of [factTimes, batchTimes]) times.length = 0;
  const watched = await Promise.all(
    Array.from({ length: sessions }, (__, number) => open(number, leave.signal)),
  );
  const joins = hubReads;
  const factCpu = await cpuOf(() => Promise.all(watched.map(sayFacts)));
  const reads = (hubReads - joins) / factTimes.length;
  const batchCpu = await cpuOf(() => Promise.all(watched.map(sayBatches)));
  leave.abort();
  const figures = {
    factP50: quantile(factTimes, 0.5),
    factP99: quantile(factTimes, 0.99),
    batchP50: quantile(batchTimes, 0.5),
    batchP99: quantile(batchTimes, 0.99),
    hubReads: reads,
    factCpu,
    batchCpu,
    factBytes: bytes.facts / bytes.factCount,
    batchBytes: bytes.batches / bytes.batchCount,
  };
  console.log(JSON.stringify(figures));
}
raw.destroy();
