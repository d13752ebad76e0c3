import { randomUUID } from "node:crypto";
import { sessionId } from "@millrace/core/writing";
import { systemClock } from "@millrace/core/memory";
import type { Clock } from "@millrace/core/ports";
import type { PoolClient } from "pg";
import { describe, expect, it } from "vitest";
import { prompt } from "../testing/fixtures.ts";
import { openDatabase } from "../testing/postgres.ts";
import { postgresStore } from "./postgres-store.ts";
import { StoreClock } from "./store-clock.ts";

const hour = 3_600_000;

/** A host's clock that is wrong by so much. */
function wrongClock(ms: number): Clock {
  return { ...systemClock, now: () => Date.now() + ms };
}

describe("the clock of a PostgreSQL store", () => {
  it("is the database's, on hosts whose clocks are an hour off", async () => {
    await using database = await openDatabase();
    const pool = database.pool();
    const [early, late] = [-hour, hour].map((ms) => postgresStore({ pool, clock: wrongClock(ms) }));
    const before = early!.now();

    const { uid } = await early!.create({ sessionId: sessionId(randomUUID()) });
    await early!.accept(uid, "key_1", prompt("input_1"));
    await late!.accept(uid, "key_2", prompt("input_2"));
    const times = (await late!.read(uid)).map(({ time }) => time);

    // The server runs on this host, so its clock is the one that is right here.
    expect(before).toBeLessThan(Date.now() - hour / 2);
    for (const time of [...times, early!.now(), late!.now()]) {
      expect(Math.abs(time - Date.now())).toBeLessThan(5_000);
    }
  });

  it("is asked for along with calls, three times and then every 30 s", async () => {
    await using database = await openDatabase();
    const pool = database.pool({ max: 1 });
    const asked: string[] = [];
    pool.on("connect", (client: PoolClient) => {
      const query = client.query.bind(client) as (...given: unknown[]) => unknown;
      const watched = (...given: readonly unknown[]): unknown => {
        const text = (given[0] as { readonly text: string }).text;
        if (text.includes("clock_timestamp() as") || text.includes("as seconds")) asked.push(text);
        return query(...given);
      };
      Object.assign(client, { query: watched });
    });
    let monotonic = 0;
    const clock = { ...systemClock, monotonic: () => monotonic };
    const store = postgresStore({ pool, clock });

    for (let at = 0; at < 10; at += 1) await store.list();
    const first = asked.splice(0).length;
    monotonic = 31_000;
    for (let at = 0; at < 10; at += 1) await store.list();

    expect([first, asked.length]).toEqual([3, 1]);
  });
});

describe("samples of a server's clock", () => {
  it("count by the shortest round trip among the last", () => {
    const clock = new StoreClock({ ...systemClock, now: () => 5, monotonic: () => 1_000 });
    expect(clock.now()).toBe(5);

    clock.take(1_000_000, 0, 80); // 999,960 ahead, or 40 more or less
    clock.take(1_000_130, 100, 104);
    clock.take(1_000_290, 200, 260);

    expect(clock.now()).toBe(1_001_028);
  });

  it("are dropped when the server's clock has jumped", () => {
    const clock = new StoreClock({ ...systemClock, now: () => 5, monotonic: () => 1_000 });
    clock.take(1_000_100, 99, 101);
    clock.take(1_000_200, 199, 201);

    clock.take(9_000_300, 290, 310);

    expect(clock.now()).toBe(9_001_000);
  });
});
