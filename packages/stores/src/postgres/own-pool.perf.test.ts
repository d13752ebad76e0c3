import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { packEpoch } from "@millrace/core/ports";
import type { SessionStore } from "@millrace/core/ports";
import { itemId, runId, sessionId, turnId } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { retryWhenNoisy } from "../../../../tests/kit/retry-when-noisy.ts";
import { item, prompt } from "../testing/fixtures.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { openProxy } from "../testing/proxy.ts";
import { postgresStore } from "./postgres-store.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** The calls of a run with one reply of text, as its driver and its person make them. */
function textRun(store: SessionStore, uid: SessionUid): readonly (() => Promise<unknown>)[] {
  const ids = { runId: runId("run_1"), turnId: turnId("turn_1") };
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
  const lane = { lane: 0, epoch };
  const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0 };
  const ended = { runId: ids.runId, outcome: "completed", closes: epoch } as const;
  return [
    () => store.accept(uid, "key_1", prompt("input_1")),
    () => store.claim(uid, { from: 0, head: 1, driver: "driver_1" }),
    () =>
      store.append(uid, {
        incarnation: 1,
        head: 2,
        bodies: [
          { type: "run_started", runId: ids.runId },
          { type: "turn_started", ...ids },
        ],
      }),
    () => store.open(uid, { ...lane, itemId: itemId("item_1") }),
    () =>
      store.commit(uid, {
        fact: {
          type: "item_committed",
          item: item("item_1", "An answer. ".repeat(40)),
          ...lane,
          ...ids,
        },
        settlement: [{ type: "usage_reported", ...ids, epoch, usage }],
      }),
    () =>
      store.append(uid, {
        incarnation: 1,
        head: 6,
        bodies: [{ type: "run_finished", ...ended }],
      }),
  ];
}

async function newSession(store: SessionStore): Promise<SessionUid> {
  return (await store.create({ sessionId: sessionId(randomUUID()) })).uid;
}

async function runText(store: SessionStore, times: number): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    const uid = await newSession(store);
    for (const call of textRun(store, uid)) await call();
  }
}

describe("a store with a pool of its own", () => {
  it("sends one statement for each call, without a transaction around it", async () => {
    const url = new URL(database.url);
    await using proxy = await openProxy(Number(url.port));
    url.port = `${proxy.port}`;
    await using store = postgresStore({ url: url.href });
    await runText(store, 1); // makes the connection, and measures the clock
    const uid = await newSession(store);
    let sent = "";
    proxy.decide = ({ from, type }) => {
      if (from === "client" && "QE".includes(type)) sent += type;
      return "pass";
    };

    await store.list({ limit: 1 });
    await store.accept(uid, "key", prompt("input")); // reads the row: the session is not known yet
    sent = "";
    const counts: string[] = [];
    const next = async (call: () => Promise<unknown>): Promise<void> => {
      await call();
      counts.push(sent);
      sent = "";
    };
    for (const call of textRun(store, uid).slice(1, 2)) await next(call);
    for (const call of textRun(store, uid).slice(2)) await next(call);
    for (const call of [
      () => store.heads!([uid]),
      () => store.find("x"),
      () => store.drivers!.beat("driver_1"),
      () => store.drivers!.find(uid),
      () => store.drivers!.due(),
    ]) {
      await next(call);
    }

    expect(counts).toEqual(counts.map(() => "E"));
    expect(counts).toHaveLength(10);
  });

  it("writes at most 8 KB of log for a run of text", async () => {
    await using store = postgresStore({ url: database.url });
    await runText(store, 20);
    const written = async (): Promise<number> => {
      const text = "select (pg_current_wal_insert_lsn() - '0/0')::text as bytes";
      return Number((await database.admin(text))[0]?.["bytes"]);
    };
    await database.admin("checkpoint");
    await runText(store, 200); // touches the pages, which the log holds whole after a checkpoint
    const before = await written();

    await runText(store, 200);

    const bytes = ((await written()) - before) / 200;
    console.log(`count: ${Math.round(bytes)} bytes of log for a session with one run of text`);
    expect(bytes).toBeLessThan(8_192);
  });

  it("takes less of the database's time than one that sets its tenant in each transaction", async () => {
    const marks = [`own_${randomUUID()}`, `shared_${randomUUID()}`];
    const [ownUrl, sharedUrl] = marks.map((mark) => `${database.url}?application_name=${mark}`);
    await using own = postgresStore({ url: ownUrl });
    const pool = new Pool({ connectionString: sharedUrl, pipeline: true });
    const shared = postgresStore({ pool });
    for (const store of [own, shared]) await runText(store, 30);

    const ratio = await retryWhenNoisy(
      async () => {
        const times: [number, number] = [0, 0];
        for (let round = 0; round < 10; round += 1) {
          for (const [at, store] of [own, shared].entries()) {
            const before = await timeOf(marks[at]!);
            await runText(store, 10);
            times[at]! += (await timeOf(marks[at]!)) - before;
          }
        }
        return times[0] / times[1];
      },
      (figure) => figure < 0.9,
    );
    await pool.end();

    console.log(`count: own connections take ${ratio.toFixed(2)} of the time of shared ones`);
    expect(ratio).toBeLessThan(0.9);
  });

  it("takes at most 25 µs of the database's time a second for a session that is polled", async () => {
    const mark = `polls_${randomUUID()}`;
    await using store = postgresStore({ url: `${database.url}?application_name=${mark}` });
    const uids: SessionUid[] = [];
    for (let at = 0; at < 64; at += 1) uids.push(await newSession(store));
    const poll = async (times: number): Promise<void> => {
      for (let at = 0; at < times; at += 1) await store.heads!(uids);
    };
    await poll(20);

    const figure = await retryWhenNoisy(
      async () => {
        const before = await timeOf(mark);
        await poll(200);
        return ((await timeOf(mark)) - before) / 200 / 64 / 5; // a poll every 5 s
      },
      (micros) => micros < 25,
    );

    console.log(`count: ${figure.toFixed(2)} µs a second for a silent session`);
    expect(figure).toBeLessThan(25);
  });
});

/** Processor time of the server's processes for connections of this name, in microseconds. */
async function timeOf(mark: string): Promise<number> {
  const text = "select pid from pg_stat_activity where application_name = $1";
  const rows = await database.admin(text, [mark]);
  const times = rows.map(({ pid }) => readFileSync(`/proc/${String(pid)}/schedstat`, "utf8"));
  return times.reduce((sum, line) => sum + Number(line.split(" ")[0]) / 1_000, 0);
}
