/** Runs at once are counted in Redis: what becomes of the places of processes that are killed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createInbox } from "@millrace/core";
import type { Fact } from "@millrace/core";
import type { SessionRecord, SessionStore } from "@millrace/core/ports";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { bundleProgram } from "../kit/deployment/bundle.ts";
import { NodeProcess } from "../kit/deployment/node-process.ts";
import { until } from "../kit/until.ts";
import type { LimitedWorkerConfig } from "./kit/limited-worker.ts";

const strays: string[] = [];
const resources = new AsyncDisposableStack();
let program = "";
let redis: { readonly url: string; readonly prefix: string };
let database = "";
let store: SessionStore;

beforeAll(async () => {
  const space = resources.use(await sharedPostgres());
  [database, redis] = [space.url, await sharedRedis()];
  const all = resources.use(postgresStore({ url: database, acrossTenants: true }));
  await all.migrate();
  store = all.forTenant("acme");
  const folder = mkdtempSync(join(tmpdir(), "millrace-places-"));
  resources.defer(() => rmSync(folder, { recursive: true, force: true }));
  program = join(folder, "limited-worker.mjs");
  await bundleProgram(new URL("kit/limited-worker.ts", import.meta.url), program);
}, 60_000);

afterAll(async () => {
  await resources.disposeAsync();
  expect(strays).toEqual([]);
});

/** Starts two workers that count together, and nothing with another test. */
async function workers(
  prefix: string,
  options: Pick<LimitedWorkerConfig, "idleMs" | "chunkMs">,
): Promise<readonly [NodeProcess, NodeProcess]> {
  const places = { postgres: database, redis: redis.url, prefix: `${redis.prefix}${prefix}:` };
  const start = async (): Promise<NodeProcess> => {
    const config: LimitedWorkerConfig = { ...places, runsPerUser: 2, ...options };
    const worker = new NodeProcess({ program, config, onStray: (error) => strays.push(error) });
    resources.use(worker);
    await worker.start();
    return worker;
  };
  return await Promise.all([start(), start()]);
}

/** Makes sessions of one user with a prompt each. */
async function ask(prefix: string, owner: string, count: number): Promise<SessionRecord[]> {
  await using log = redisLog({ url: redis.url, prefix: `${redis.prefix}${prefix}:` });
  const made: SessionRecord[] = [];
  for (let n = 0; n < count; n += 1) {
    const record = await store.create({ sessionId: crypto.randomUUID(), owner });
    const sent = await createInbox({ store, log, uid: record.uid }).send("go");
    expect(sent.accepted).toBe(true);
    made.push(record);
  }
  return made;
}

function factsOf(sessions: readonly SessionRecord[]): Promise<readonly (readonly Fact[])[]> {
  return Promise.all(sessions.map(({ uid }) => store.read(uid)));
}

async function countOf(sessions: readonly SessionRecord[], type: Fact["type"]): Promise<number> {
  const facts = await factsOf(sessions);
  return facts.filter((each) => each.some((fact) => fact.type === type)).length;
}

/** The most runs of these sessions that were on at one time, by the times of their facts. */
async function mostAtOnce(sessions: readonly SessionRecord[]): Promise<number> {
  const changes = (await factsOf(sessions)).flat().flatMap(({ type, time }) => {
    if (type === "run_started") return [{ time, by: 1 }];
    return type === "run_finished" ? [{ time, by: -1 }] : [];
  });
  let [now, most] = [0, 0];
  for (const { by } of changes.toSorted((a, b) => a.time - b.time || a.by - b.by))
    most = Math.max(most, (now += by));
  return most;
}

test("runs wait seconds, not half a minute, after all processes with their user's places were killed", async () => {
  const pair = await workers("killed", { idleMs: 50, chunkMs: 120 });
  const sessions = await ask("killed", "ann", 6);
  await until(async () => (await countOf(sessions, "run_started")) === 2, "two runs are on");

  await Promise.all(pair.map((worker) => worker.kill()));
  await Promise.all(pair.map((worker) => worker.start()));
  const begun = performance.now();
  await until(async () => (await countOf(sessions, "run_finished")) === 6, "all runs are done", {
    everyMs: 50,
  });

  expect(performance.now() - begun).toBeLessThan(20_000);
  expect(await mostAtOnce(sessions)).toBe(2);
  await Promise.all(pair.map((worker) => worker.kill())); // they would take the next test's sessions
}, 90_000);

test("a session that a killed process had open without work holds its place for seconds", async () => {
  const pair = await workers("idle", { idleMs: 60_000, chunkMs: 1 });
  const before = await ask("idle", "bob", 2);
  await until(async () => (await countOf(before, "run_finished")) === 2, "two runs are done");
  await sleep(500); // the workers have read those facts

  await Promise.all(pair.map((worker) => worker.kill()));
  await Promise.all(pair.map((worker) => worker.start()));
  const begun = performance.now();
  const after = await ask("idle", "bob", 1);
  await until(async () => (await countOf(after, "run_finished")) === 1, "the next run is done");

  expect(performance.now() - begun).toBeLessThan(15_000);
}, 90_000);
