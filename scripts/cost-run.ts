/**
 * What a session costs on PostgreSQL, measured by this checkout's packages. `cost.ts` copies this file
 * into the checkout that it compares with, so it names packages alone, and takes the entries of both.
 * DATABASE_URL is an empty database, POSTGRES_PID the server's first process. Prints JSON.
 */
import { readFileSync, readdirSync } from "node:fs";
import { defineAgent, defineTool } from "@millrace/agent";
import type * as memory from "@millrace/core/memory";
import type * as testing from "@millrace/core/testing";
import { postgresStore } from "@millrace/stores/postgres";
import { Client } from "pg";
import { z } from "zod";

/** An entry of the core, or the one that had all of them before, under the same names. */
async function importCore<Entry>(name: "testing" | "memory"): Promise<Entry> {
  const entries = [`@millrace/core/${name}`, "@millrace/core/reference"] as const;
  return (await import(entries[0]).catch(() => import(entries[1]))) as Entry; // as its caller types it
}

const { call, say, scriptedModel } = await importCore<typeof testing>("testing");
const { memoryEventLog } = await importCore<typeof memory>("memory");

const sessionsAtOnce = 8;
const [textSessions, toolSessions, steps] = [32, 16, 10];
const [watched, polls, pollSeconds] = [64, 200, 5];
const reply = "An answer of words. ".repeat(25);

/** What has been spent so far. */
interface Meter {
  readonly database: number;
  readonly client: number;
  readonly wal: number;
  readonly commits: number;
}

const admin = new Client({ connectionString: process.env["DATABASE_URL"] });
await admin.connect();
const store = postgresStore();
await store.migrate();

/** Processor time of all processes of the server, in microseconds. */
function databaseTime(): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      parents.set(Number(name), Number(fields[1]));
    } catch {
      continue; // it has ended meanwhile
    }
  }
  const server = Number(process.env["POSTGRES_PID"]);
  let total = 0;
  for (const [pid, parent] of parents) {
    if (pid !== server && parent !== server) continue;
    total += Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000;
  }
  return total;
}

/** Commits are those that wrote: each has a transaction id. */
async function readMeter(): Promise<Meter> {
  const { rows } = await admin.query<{ wal: string; xmax: string }>(
    `select (pg_current_wal_insert_lsn() - '0/0')::text as wal,
       pg_snapshot_xmax(pg_current_snapshot())::text as xmax`,
  );
  const { user, system } = process.cpuUsage();
  return {
    database: databaseTime(),
    client: user + system,
    wal: Number(rows[0]?.wal),
    commits: Number(rows[0]?.xmax),
  };
}

/** What one of `count` units of work costs, after a warm-up of a tenth. */
async function measure(count: number, work: (count: number) => Promise<void>): Promise<Meter> {
  await work(Math.ceil(count / 10));
  const before = await readMeter();
  await work(count);
  const after = await readMeter();
  const each = (name: keyof Meter): number => (after[name] - before[name]) / count;
  return {
    database: each("database"),
    client: each("client"),
    wal: each("wal"),
    commits: each("commits"),
  };
}

let opened = 0;
const log = memoryEventLog();

/** Runs so many sessions, some at once, and closes them. */
async function eachSession(
  count: number,
  agent: () => ReturnType<typeof defineAgent>,
  work: (session: Awaited<ReturnType<ReturnType<typeof defineAgent>["open"]>>) => Promise<void>,
): Promise<void> {
  let at = 0;
  const lane = async (): Promise<void> => {
    while (at < count) {
      at += 1;
      opened += 1;
      const session = await agent().open({ id: `s${opened}`, store, log });
      await work(session);
      await session.close();
    }
  };
  await Promise.all(Array.from({ length: sessionsAtOnce }, lane));
}

const look = defineTool({
  name: "look",
  description: "looks something up",
  input: z.object({ at: z.number() }),
  effect: "pure",
  run: ({ at }) => ({ at }),
});

const text = await measure(textSessions * steps, (count) =>
  eachSession(
    Math.ceil(count / steps),
    () => defineAgent({ model: scriptedModel(Array.from({ length: steps }, () => [say(reply)])) }),
    async (session) => {
      for (let at = 0; at < steps; at += 1) await session.send("go").result;
    },
  ),
);
const calls = Array.from({ length: steps }, (_, at) => [call("look", { at })]);
const tool = await measure(toolSessions * steps, (count) =>
  eachSession(
    Math.ceil(count / steps),
    () => defineAgent({ model: scriptedModel([...calls, [say("done")]]), tools: [look] }),
    async (session) => {
      const { outcome } = await session.send("go").result;
      if (outcome !== "completed") throw new Error(`the run is ${outcome}`);
    },
  ),
);
const records = await store.list({ limit: watched });
const uids = records.map(({ uid }) => uid);
const poll = await measure(polls, async (count) => {
  for (let at = 0; at < count; at += 1) {
    if ("heads" in store && store.heads !== undefined) await store.heads(uids);
    else await Promise.all(uids.map((uid) => store.head(uid)));
  }
});
const silent = poll.database / uids.length / pollSeconds;
console.log(JSON.stringify({ text, tool, silent }));
await store.close();
await admin.end();
