import { randomUUID } from "node:crypto";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Observer, Session } from "@millrace/agent";
import { emptyState, replay } from "@millrace/core/reading";
import { sessionId } from "@millrace/core/writing";
import type { Item, Model } from "@millrace/core";
import type { Clock } from "@millrace/core/ports";
import { memoryEventLog, systemClock } from "@millrace/core/memory";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { patience } from "../kit/patience.ts";
import { openDatabase, openPool } from "../../packages/stores/src/testing/postgres.ts";
import type { Database } from "../../packages/stores/src/testing/postgres.ts";
import { isCommitted, openProxy } from "../../packages/stores/src/testing/proxy.ts";
import type { Proxy } from "../../packages/stores/src/testing/proxy.ts";
import { runs } from "../kit/runs.ts";

let database: Database;
/** Not through a proxy. */
let direct: PostgresStore;

beforeAll(async () => {
  database = await openDatabase();
  direct = postgresStore({ pool: database.pool() });
});
afterAll(() => database[Symbol.asyncDispose]());

/** An agent's way to its database, and what it has been asked to do. */
interface Setting extends AsyncDisposable {
  readonly proxy: Proxy;
  readonly store: PostgresStore;
  /** Opens the session, in whatever state it is. */
  readonly open: () => Promise<Session>;
  readonly name: string;
  asked: number;
  counted: number;
  /** Whether a session of it has waited for its store. */
  waited: boolean;
}

/** Waits less than real clocks do. */
const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms / 50)),
  after: (ms, call) => systemClock.after(ms / 50, call),
};

/** The id that a client gives to what it sends. What it sends again has the same. */
async function openSetting(makeInputId: () => string = () => "input_1"): Promise<Setting> {
  const url = new URL(database.url);
  const proxy = await openProxy(Number(url.port));
  url.port = `${proxy.port}`;
  const pool = openPool(url.href, { max: 4 });
  const store = postgresStore({ pool, clock });
  const name = `talk_${randomUUID()}`;
  const makeId = (sort: string): string =>
    sort === "input" ? makeInputId() : `${sort}_${randomUUID()}`;
  const count = defineTool({
    name: "count",
    input: z.object({ to: z.number() }),
    effect: "idempotent",
    run: ({ to }, { append }) => {
      setting.counted += 1;
      append("counting");
      return { counted: to };
    },
  });
  const model: Model = {
    id: "scripted/model",
    stream: (request) => {
      setting.asked += 1;
      return scriptedModel([replyTo(request.transcript)]).stream(request);
    },
  };
  const observe: Observer = (event) => {
    if (event.type === "connection_changed" && event.connection === "waiting")
      setting.waited = true;
  };
  const agent = defineAgent({ model, tools: [count], observers: [observe] });
  const open = (): Promise<Session> =>
    // Without viewers: the log has tests of its own.
    agent.open({ id: name, store, makeId, log: memoryEventLog() });
  const setting: Setting = {
    proxy,
    store,
    open,
    name,
    asked: 0,
    counted: 0,
    waited: false,
    [Symbol.asyncDispose]: async () => {
      proxy.decide = () => "pass";
      await pool.end();
      await proxy[Symbol.asyncDispose]();
    },
  };
  return setting;
}

/** Two calls of a tool, then the answer. */
function replyTo(transcript: readonly Item[]) {
  if (transcript.at(-1)?.author !== "user") return [say("Done.")];
  const calls = [1, 2].map((to) => call("count", { to }, { callId: `call_${to}` }));
  return [say("Let me count. "), ...calls];
}

/** The session is as one run leaves it, each item once, and legal to the last fact. */
async function checkStored({ name }: Setting): Promise<void> {
  const record = await direct.find(sessionId(name));
  if (record === undefined) throw new Error("the session is gone");
  const facts = await direct.read(record.uid);
  expect(facts.map(({ n }) => n)).toEqual(facts.map((_, at) => at + 1));
  const { items, ended, queue } = replay(emptyState(record.uid, record.sessionId), facts);
  const authors = items.toArray().map(({ author }) => author);
  expect(authors).toEqual(["user", "model", "tool", "tool", "model"]);
  expect(new Set(items.toArray().map(({ id }) => id)).size).toBe(5);
  expect(ended).toMatchObject({ outcome: "completed" });
  expect(queue).toEqual([]);
  expect(await direct.verify(record.sessionId)).toMatchObject({ ok: true, facts: facts.length });
}

/** After each cut only a legal prefix may be there. */
async function checkPrefix({ name }: Setting): Promise<void> {
  const record = await direct.find(sessionId(name));
  if (record === undefined) return;
  const facts = await direct.read(record.uid);
  expect(facts.map(({ n }) => n)).toEqual(facts.map((_, at) => at + 1));
  expect(replay(emptyState(record.uid, record.sessionId), facts).head).toBe(facts.length);
  expect(await direct.verify(record.sessionId)).toMatchObject({ ok: true });
}

/** So many at once, each with a way of its own. */
async function atOnce(count: number, work: (at: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** The length of a run in messages, so that points can lie all over it. A busy machine sends fewer. */
async function messagesOfRun(): Promise<number> {
  await using setting = await openSetting();
  let length = 0;
  setting.proxy.decide = () => {
    length += 1;
    return "pass";
  };
  const session = await setting.open();
  await session.send("count").result;
  await session.close();
  return length;
}

describe("an agent whose way to PostgreSQL", () => {
  it(
    "is cut at any point of a run completes it, with one item each",
    { timeout: patience * 5 },
    async () => {
      const points = runs(200, 1_000, 80);
      let [cuts, again] = [0, 0];
      const length = await messagesOfRun();
      await atOnce(points, async (at) => {
        await using setting = await openSetting();
        const { proxy } = setting;
        let left = 1 + Math.floor((at * length) / points);
        proxy.decide = () => {
          left -= 1;
          return left === 0 ? "cut" : "pass";
        };
        const session = await setting.open();
        const result = await session.send("count").result;
        await session.close();
        expect(result).toMatchObject({ outcome: "completed", text: "Done." });
        await checkStored(setting);
        expect(setting.asked).toBe(2); // no reply was lost, so none was asked for again
        expect(setting.counted).toBe(2);
        cuts += proxy.cuts();
        again += setting.asked - 2;
      });

      console.log(
        `count: an agent's run of ${length} messages: cut once at ${cuts} of ${points} points, ${again} replies asked for again`,
      );
      expect(cuts).toBeGreaterThan(points * 0.8); // some runs need fewer messages
    },
  );

  it(
    "is away for a while from any point of a run on completes it by itself",
    { timeout: patience * 5 },
    async () => {
      const points = runs(100, 1_000, 40);
      let [waited, asked, opened] = [0, 0, 0];
      const length = await messagesOfRun();
      await atOnce(points, async (at) => {
        await using setting = await openSetting();
        const { proxy } = setting;
        let left = 2 + Math.floor((at * length) / points);
        let [backAt, cuts] = [Infinity, 0];
        proxy.decide = () => {
          left -= 1;
          if (left === 0) backAt = performance.now() + 200;
          // On a busy machine 200 ms may pass before anything is tried again. A call of the store is tried six times.
          if (left > 0 || (performance.now() > backAt && cuts >= 12)) return "pass";
          cuts += 1;
          return "cut";
        };
        // Opening has no session yet that could wait: its caller tries again.
        let session = await setting.open().catch(() => undefined);
        while (session === undefined) {
          opened += 1;
          session = await setting.open().catch(() => undefined);
        }
        const run = session.send("count");
        await run.result;
        await checkPrefix(setting);

        expect(await run.result).toMatchObject({ outcome: "completed", text: "Done." });
        await session.close();
        await checkStored(setting);
        if (setting.waited) waited += 1;
        asked += setting.asked;
        expect(setting.asked).toBe(2); // what a model has written is kept until the store is back
        expect(setting.counted).toBe(2);
      });

      console.log(
        `count: ${points} outages, ${waited} sessions waited for their store, ${opened} tries to open failed, ${asked} replies asked for where ${points * 2} are stored`,
      );
      expect(waited).toBeGreaterThan(points / 4);
    },
  );

  it(
    "loses the answer to an item's commit asks no model twice",
    { timeout: patience * 2 },
    async () => {
      const rounds = runs(20, 400);
      await atOnce(rounds, async (at) => {
        await using setting = await openSetting();
        const { proxy } = setting;
        const session = await setting.open();
        const awayMs = at % 2 === 0 ? 200 : 0; // else it is back at once, and the store itself finds out
        let backAt: number | undefined;
        proxy.decide = (message) => {
          // The first commit after the model has been asked is that of its item.
          if (backAt === undefined && (setting.asked === 0 || !isCommitted(message))) return "pass";
          const first = backAt === undefined;
          backAt ??= performance.now() + awayMs;
          return first || performance.now() < backAt ? "cut" : "pass";
        };

        expect(await session.send("count").result).toMatchObject({
          outcome: "completed",
          text: "Done.",
        });
        await session.close();
        expect(backAt).toBeDefined();
        proxy.decide = () => "pass";
        await checkStored(setting);
        expect(setting.asked).toBe(2); // once for each of its two replies
      });

      console.log(
        `count: ${rounds} lost answers to an item's commit, each reply asked for once, no session opened again`,
      );
    },
  );

  it(
    "loses half of the answers stores each input once, whatever was sent twice",
    { timeout: patience * 5 },
    async () => {
      const inputs = runs(200, 20_000, 80);
      let id = "";
      await using setting = await openSetting(() => id);
      const { proxy } = setting;
      let session = await setting.open();
      let [answers, lost, seed, opened] = [0, 0, 7, 1];
      proxy.decide = (message) => {
        if (!isCommitted(message)) return "pass";
        answers += 1;
        seed = (seed * 48_271) % 2_147_483_647;
        lost += seed % 2;
        return seed % 2 === 1 ? "cut" : "pass";
      };
      const send = async (at: number): Promise<void> => {
        for (let tries = 0; tries < 100; tries += 1) {
          id = `input_${at}`;
          const { accepted } = await session.followUp(`say ${at}`).accepted;
          if (accepted) return;
          // Six answers in a row were lost, perhaps of a read: the caller starts again.
          await session.close();
          const reopened = await setting.open().catch(() => undefined);
          session = reopened ?? session;
          opened += 1;
        }
        throw new Error("it never gets through");
      };
      for (let at = 0; at < inputs; at += 1) {
        await send(at);
        if (at % 2 === 0) await send(at); // a client that did not receive the answer
      }
      proxy.decide = () => "pass";
      await session.close();

      const record = await direct.find(sessionId(setting.name));
      const facts = record === undefined ? [] : await direct.read(record.uid);
      const stored = facts.filter(({ type }) => type === "input_accepted");
      console.log(
        `count: ${inputs} inputs, half of them sent twice, ${lost} of ${answers} answers lost, opened ${opened} times`,
      );
      expect(stored.map((fact) => "inputId" in fact && fact.inputId)).toEqual(
        Array.from({ length: inputs }, (_, at) => `input_${at}`),
      );
      expect(lost).toBeGreaterThan(inputs / 4);
      expect(await direct.verify(sessionId(setting.name))).toMatchObject({ ok: true });
    },
  );
});
