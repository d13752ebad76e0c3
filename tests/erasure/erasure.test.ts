import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { follow } from "@millrace/core/reading";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { sessionId } from "@millrace/core/writing";
import type { SessionUid } from "@millrace/core";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { fileStore } from "@millrace/stores/file";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { Pool } from "pg";
import { describe, expect, it, vi } from "vitest";
import { sharedPostgres } from "../../scripts/services/shared.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { patience } from "../kit/patience.ts";
import { until } from "../kit/until.ts";
import { Markers, markedAgent } from "./family.ts";
import { scanCalls, scanDatabase, scanFolder, scanRedis } from "./scan.ts";

vi.setConfig({ testTimeout: patience });

/** A store and a log as two programs have them, and what is left in them. */
interface Stage extends AsyncDisposable {
  readonly driver: Ports;
  readonly other: Ports;
  readonly scan: (markers: readonly string[]) => Promise<ReadonlySet<string>>;
}

interface Ports {
  readonly store: SessionStore;
  readonly log: EventLog;
}

async function openServers(): Promise<Stage> {
  await using opening = new AsyncDisposableStack();
  const { url } = opening.use(await sharedPostgres());
  const redis = opening.use(await startRedis());
  const connect = (): Ports & { store: { migrate: () => Promise<void> } } => ({
    store: opening.use(postgresStore({ url })),
    log: opening.use(redisLog({ url: redis.url })),
  });
  const [driver, other] = [connect(), connect()];
  await driver.store.migrate();
  const pool = opening.adopt(new Pool({ connectionString: url }), (own) => own.end());
  const opened = opening.move();
  return {
    driver,
    other,
    scan: async (markers) =>
      new Set([...(await scanDatabase(pool, markers)), ...(await scanRedis(redis.url, markers))]),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

async function openFiles(): Promise<Stage> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-erasure-"));
  const store = fileStore(folder);
  const ports = { store, log: memoryEventLog() };
  return {
    driver: ports,
    other: ports, // one process writes a session
    scan: (markers) => scanFolder(folder, markers),
    [Symbol.asyncDispose]: async () => {
      await store.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function openMemory(): Promise<Stage> {
  const ports = { store: memorySessionStore(), log: memoryEventLog() };
  return {
    driver: ports,
    other: ports,
    scan: (markers) => scanCalls(ports.store, markers),
    [Symbol.asyncDispose]: async () => undefined,
  };
}

describe.each([
  ["in PostgreSQL and Redis", openServers],
  ["in files", openFiles],
  ["in memory", openMemory],
])("a session with sub-agents and open lanes, %s", (_, open) => {
  it("leaves none of its content when it is removed, and all that works on it ends", async () => {
    await using stage = await open();
    const markers = new Markers();
    const agent = markedAgent(markers);
    const id = `talk ${markers.plant(1)}`;
    const metadata = { about: markers.plant(4) };
    const session = await agent.open({ id, metadata, ...stage.driver });
    const stored = await session.send(markers.plant(30), { key: markers.plant(1) }).result;
    expect(stored.outcome).toBe("completed");
    const run = session.send(markers.plant(9));
    const uid = (await stage.other.store.find(id))?.uid;
    if (uid === undefined) throw new Error("there is no session");
    const family = async (): Promise<number> => (await stage.other.store.list()).length;
    // Two calls of the helper, each with a call of the innermost agent, of which the last one streams.
    await until(async () => (await family()) === 5, "all sub-agents work");
    await until(async () => (await lanes(stage.other)) >= 4, "all lanes are open");
    await sleep(300); // what was streamed is in the log
    const viewer = watch(stage.other, uid, id);
    await until(() => viewer.messages > 0, "the viewer has the session");
    const fork = await session.fork(session.items[0]?.id ?? "");
    await fork.close();
    const before = await stage.scan(markers.all);

    const tombstone = await agent.remove(id, { ...stage.other, actor: { user: "Ann" } });

    expect(await run.result).toMatchObject({
      outcome: "failed",
      error: { code: "unknown_session" },
    });
    await viewer.ended;
    await session.close();
    expect(tombstone).toMatchObject({ uid, root: uid, actor: { user: "Ann" } });
    expect(await stage.other.store.tombstone(id)).toEqual(tombstone);
    // The fork is a session of its own: it stays until it is removed too.
    expect((await stage.other.store.list()).map((record) => record.sessionId)).toEqual([fork.id]);
    await agent.remove(fork.id, stage.other);
    await sleep(1_500); // writers that were late have written
    expect([...(await stage.scan(markers.all))]).toEqual([]);
    expect(before.size).toBeGreaterThanOrEqual(200);
    expect(await family()).toBe(0);
    // The name is free again, for another session.
    const again = await agent.open({ id, ...stage.driver });
    expect(again.items).toEqual([]);
    await again.close();
    console.log(`count: erasure, ${before.size} of ${markers.all.length} markers before, 0 after`);
  });
});

/** The open lanes of all sessions. */
async function lanes({ store }: Ports): Promise<number> {
  const floors = (await store.list()).map(({ uid }) => store.floors(uid));
  return (await Promise.all(floors)).flat().length;
}

/** A viewer in another program. */
function watch(
  ports: Ports,
  uid: SessionUid,
  id: string,
): { messages: number; readonly ended: Promise<void> } {
  const source = { ...ports, clock: systemClock, uid, sessionId: sessionId(id) };
  const seen = { messages: 0, ended: Promise.resolve() };
  const read = async (): Promise<void> => {
    for await (const _ of follow(source)) seen.messages += 1;
  };
  seen.ended = read();
  return seen;
}
