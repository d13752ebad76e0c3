import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { follow } from "@millrace/core/reading";
import type { Fact, SessionUid } from "@millrace/core";
import type { SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { createHub } from "@millrace/server/hub";
import type { Hub } from "@millrace/server/hub";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { RedisLog } from "@millrace/stores/redis";
import { expect, it } from "vitest";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { patience } from "../kit/patience.ts";
import { runs } from "../kit/runs.ts";
import { Forger } from "./forger.ts";
import { RecordingViewer } from "./recording-viewer.ts";
import { question, runConversation, conversations } from "./conversations.ts";

const sessions = runs(200, 5_000, 60);
/** Sessions at a time. */
const atOnce = 10;
/** After so many sessions that went wrong there is nothing more to learn. */
const enough = 10;
/** A session that takes longer is held up. Without a forger it takes well below a second. */
const limitMs = 20_000;

/** The programs around a forger's Redis: one that drives, one with a hub, one that follows. */
interface Stage extends AsyncDisposable {
  readonly driver: { readonly store: SessionStore; readonly log: RedisLog };
  readonly hub: Hub;
  readonly other: { readonly store: SessionStore; readonly log: RedisLog };
  readonly forger: Forger;
  /** Calls that read facts or the head from the store. */
  readonly reads: { driver: number; hub: number };
}

async function openStage(): Promise<Stage> {
  await using opening = new AsyncDisposableStack();
  const { url } = opening.use(await sharedPostgres());
  const { url: redis, prefix } = await sharedRedis();
  const reads = { driver: 0, hub: 0 };
  const connect = (): {
    store: SessionStore & { migrate: () => Promise<void> };
    log: RedisLog;
  } => ({
    store: opening.use(postgresStore({ url })),
    log: opening.use(redisLog({ url: redis, prefix })),
  });
  const [driving, serving, other] = [connect(), connect(), connect()];
  await driving.store.migrate();
  const forger = opening.use(await Forger.open(redis, prefix));
  const served = counted(serving.store, () => (reads.hub += 1));
  const hub = opening.use(createHub({ ...serving, store: served, clock: systemClock }));
  const driven = counted(struck(driving.store, forger), () => (reads.driver += 1));
  const opened = opening.move();
  return {
    driver: { store: driven, log: driving.log },
    hub,
    other,
    forger,
    reads,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/** A store that lets a forger work after every new fact, before its caller has the answer. */
function struck(store: SessionStore, forger: Forger): SessionStore {
  const after = async <T extends { readonly outcome: string; readonly facts?: readonly Fact[] }>(
    uid: SessionUid,
    answer: T,
  ): Promise<T> => {
    if ((answer.facts ?? []).length > 0) await forger.strike(uid, await store.read(uid));
    return answer;
  };
  return {
    ...store,
    claim: async (uid, request) => after(uid, await store.claim(uid, request)),
    accept: async (uid, key, body) => after(uid, await store.accept(uid, key, body)),
    open: async (uid, request) => after(uid, await store.open(uid, request)),
    commit: async (uid, request) => after(uid, await store.commit(uid, request)),
    append: async (uid, request) => after(uid, await store.append(uid, request)),
  };
}

function counted(store: SessionStore, count: () => void): SessionStore {
  return {
    ...store,
    read: (uid, options) => {
      count();
      return store.read(uid, options);
    },
    head: (uid) => {
      count();
      return store.head(uid);
    },
  };
}

/** What one attacked session showed. */
interface Outcome {
  readonly name: string;
  readonly wrong: readonly string[];
  readonly ms: number;
  readonly facts: number;
  readonly joins: number;
}

async function attack(stage: Stage, number: number): Promise<Outcome> {
  const { driver, hub, other, forger } = stage;
  const plan = conversations[number % conversations.length] as (typeof conversations)[number];
  const expected = await runConversation(plan, {
    id: "calm",
    store: memorySessionStore(),
    log: memoryEventLog(),
    ran: [],
  });
  const viewers: RecordingViewer[] = [];
  const id = `talk-${number}`;
  const ran: string[] = [];
  const talking = runConversation(plan, {
    id,
    ran,
    ...driver,
    opened: async (session) => {
      const record = await other.store.find(session.id);
      if (record === undefined) throw new Error("the session is not stored");
      const { uid, sessionId } = record;
      await forger.shadow(uid);
      const place = { uid, sessionId };
      viewers.push(
        new RecordingViewer(place, (signal) => hub.watch({ ...place, signal })),
        new RecordingViewer(place, (signal) =>
          follow({ ...place, ...other, clock: systemClock, signal, pollMs: 5_000 }),
        ),
      );
    },
  });
  const failed = talking.then(
    () => undefined,
    (error: unknown) => String(error),
  );
  const talked = await Promise.race([talking.catch(() => undefined), sleep(limitMs)]);
  const [{ uid } = { uid: undefined }] = viewers.map(({ state }) => state);
  if (uid === undefined) throw new Error("nobody watches");
  const stored = await other.store.read(uid);
  const wrong: string[] = [];
  if (talked === undefined)
    wrong.push((await Promise.race([failed, heldUp()])) ?? "ended too late");
  else {
    if (!isDeepStrictEqual(talked.transcript, expected.transcript))
      wrong.push(`another transcript: ${JSON.stringify(talked.transcript)}`);
    const until = performance.now() + limitMs;
    const behind = (): boolean => viewers.some(({ state }) => state.head !== stored.length);
    while (behind() && performance.now() < until) await sleep(10);
    if (behind()) wrong.push("a viewer does not come to the end");
  }
  if (ran.join() !== plan.allowed.join()) wrong.push(`ran ${ran.join()}, which was not allowed`);
  for (const { forged, misfits, ended } of viewers) {
    if (forged > 0) wrong.push(`a viewer shows ${forged} forged messages`);
    if (misfits > 0) wrong.push(`a viewer is shown ${misfits} messages that do not fit`);
    if (ended) wrong.push("a viewer is ended");
  }
  const untrue = viewers.flatMap((viewer) => viewer.untrue(stored));
  if (untrue.length > 0)
    wrong.push(`shown and not stored: ${untrue.map(({ type }) => type).join()}`);
  await Promise.all(viewers.map((viewer) => viewer.leave()));
  const joins = viewers.reduce((sum, one) => sum + one.joins, 0);
  return { name: plan.name, wrong, ms: talked?.ms ?? limitMs, facts: stored.length, joins };
}

function isWrong({ wrong }: Outcome): boolean {
  return wrong.length > 0;
}

async function heldUp(): Promise<string> {
  await sleep(1);
  return `held up for ${limitMs} ms`;
}

/** Returns how often the store was read, and resets the count. */
function readsPerFact({ reads }: Stage, outcomes: readonly Outcome[]): string {
  const facts = outcomes.reduce((sum, outcome) => sum + outcome.facts, 0);
  const said = `driver ${(reads.driver / facts).toFixed(2)}, hub ${(reads.hub / facts).toFixed(2)}`;
  Object.assign(reads, { driver: 0, hub: 0 });
  return said;
}

it(
  `in ${sessions} sessions nothing that a Redis client forges is believed by a driver or shown by a viewer`,
  { timeout: patience * 5 },
  async () => {
    await using stage = await openStage();
    const outcomes: Outcome[] = [];
    let next = 0;
    stage.forger.active = false;
    const calm = await Promise.all(conversations.map((_, at) => attack(stage, sessions + 1 + at)));
    const calmReads = readsPerFact(stage, calm);
    stage.forger.active = true;
    const play = async (): Promise<void> => {
      while (next < sessions && outcomes.filter(isWrong).length < enough) {
        next += 1;
        outcomes.push(await attack(stage, next));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, play));

    const wrong = outcomes.filter(isWrong);
    const facts = outcomes.reduce((sum, outcome) => sum + outcome.facts, 0);
    const rejoined = outcomes.reduce((sum, { joins }) => sum + joins - 2, 0);
    const times = outcomes.map(({ ms }) => ms).toSorted((left, right) => left - right);
    const { tally } = stage.forger;
    console.log(
      `count: ${outcomes.length} sessions with ${facts} facts under ${tally.facts} forged facts, ` +
        `${tally.batches} forged batches (${tally.entries} in streams) and ${tally.nudges} forged nudges; ` +
        `${wrong.length} sessions went wrong, ${rejoined} subscriptions were made anew; ` +
        `a session took ${times[times.length >> 1]?.toFixed(0)} ms, the longest ${times.at(-1)?.toFixed(0)}; ` +
        `reads of the store per stored fact, those to open and polls included: ` +
        `${readsPerFact(stage, outcomes)}, without the forger ${calmReads}`,
    );
    expect(wrong.map(({ name, wrong: why }) => `${name}: ${why.join("; ")}`)).toEqual([]);
    expect(outcomes).toHaveLength(sessions);
  },
);

it("a forged yes runs no tool, and holds up none of 30 sessions that wait for one", async () => {
  await using stage = await openStage();
  const { driver, other, forger } = stage;
  forger.active = false;
  const plan = conversations.find(({ name }) => name === "a question that is not answered");
  if (plan === undefined) throw new Error("there is no such script");
  const wrong: string[] = [];
  for (let number = 0; number < 30 && wrong.length === 0; number += 1) {
    const ran: string[] = [];
    const speak: typeof plan.speak = async (session) => {
      const run = session.send("clean up");
      await question(session);
      const { uid } = (await other.store.find(session.id)) ?? {};
      if (uid === undefined) throw new Error("the session is not stored");
      await forger.allow(uid, await other.store.read(uid));
      await sleep(100); // a driver that believes it has run the tool by then
      session.abort("enough");
      await run.result;
    };
    const talking = runConversation({ ...plan, speak }, { id: `asked-${number}`, ran, ...driver });
    if ((await Promise.race([talking, sleep(limitMs)])) === undefined) wrong.push("held up");
    if (ran.length > 0) wrong.push(`ran ${ran.join()}`);
  }

  console.log(`count: 30 questions under ${forger.tally.facts} forged answers`);
  expect(wrong).toEqual([]);
});

it("4,000 forged facts of a far future, 50 KB each, are kept by none of their readers", async () => {
  await using stage = await openStage();
  const { driver, hub, other, forger } = stage;
  const [plan] = conversations;
  if (plan === undefined) throw new Error("there is no script");
  let grown = Infinity;
  await runConversation(
    { ...plan, speak: async () => undefined },
    {
      id: "flooded",
      ran: [],
      ...driver,
      opened: async (session) => {
        const record = await other.store.find(session.id);
        if (record === undefined) throw new Error("the session is not stored");
        const { uid, sessionId } = record;
        const viewers = [
          new RecordingViewer({ uid, sessionId }, (signal) =>
            hub.watch({ uid, sessionId, signal }),
          ),
          new RecordingViewer({ uid, sessionId }, (signal) =>
            follow({ uid, sessionId, ...other, clock: systemClock, signal }),
          ),
        ];
        await forger.flood(uid, 100_000, 200, 50_000);
        const before = await usedMemory();
        await forger.flood(uid, 200_000, 4_000, 50_000);
        grown = (await usedMemory()) - before;
        expect(viewers.map(({ forged }) => forged)).toEqual([0, 0]);
        await Promise.all(viewers.map((viewer) => viewer.leave()));
      },
    },
  );

  console.log(`count: 4000 forged facts of 50 KB left ${(grown / 2 ** 20).toFixed(1)} MiB behind`);
  expect(grown).toBeLessThan(30 * 2 ** 20);
});

/** The bytes in use once what is under way has arrived and what is not used has been collected. */
async function usedMemory(): Promise<number> {
  await sleep(500);
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void; // as the flag makes it
  for (let time = 0; time < 3; time += 1) collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
