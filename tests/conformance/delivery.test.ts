import {
  deliveryCases,
  deliveryLossCases,
  eventLogCases,
  eventLogLossCases,
  sessionStoreCases,
} from "@millrace/conformance";
import type { LosableDeliveryFixture, OpenedDelivery } from "@millrace/conformance";
import type { EventLog, SessionStore } from "@millrace/core/ports";
import { createHub } from "@millrace/server/hub";
import type { Hub } from "@millrace/server/hub";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  openBoth,
  openFileStore,
  openMemoryLog,
  openMemoryStore,
  startPostgresStores,
  startRedisLogs,
} from "./backends.ts";

const cases = [...deliveryCases, ...deliveryLossCases];

let postgres: Awaited<ReturnType<typeof startPostgresStores>>;
let redis: Awaited<ReturnType<typeof startRedisLogs>>;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgresStores(), startRedisLogs()]);
}, 120_000);

afterAll(async () => {
  await redis[Symbol.asyncDispose]();
  await postgres[Symbol.asyncDispose]();
});

const openPostgres: typeof openMemoryStore = () => postgres.open();
const openRedis: typeof openMemoryLog = (options) => redis.open(options);

/** Reads through hubs: one for each pair of store and log. */
function throughHubs(): NonNullable<OpenedDelivery["follow"]> {
  const hubs = new Map<EventLog, Map<SessionStore, Hub>>();
  return ({ store, log, clock, pollMs, ...watched }) => {
    const ofLog = hubs.get(log) ?? new Map<SessionStore, Hub>();
    const hub = ofLog.get(store) ?? createHub({ store, log, clock, pollMs });
    hubs.set(log, ofLog.set(store, hub));
    return hub.watch(watched);
  };
}

// Memory on memory, and follow on memory and Redis, are run where those are made: packages/conformance,
// packages/server and packages/stores. Here are the pairs that no one package can see.
const passed = new Map<string, number>();
const pairs = [
  ["file store, memory log", openFileStore, openMemoryLog],
  ["memory store, Redis log", openMemoryStore, openRedis],
  ["PostgreSQL store, Redis log", openPostgres, openRedis],
] as const;
const readers = [
  ["follow", () => undefined],
  ["a hub", throughHubs],
] as const;

for (const [pair, openStore, openLog] of pairs) {
  for (const [reader, makeFollow] of readers) {
    if (reader === "follow" && pair === "memory store, Redis log") continue;
    const fixture: LosableDeliveryFixture = {
      open: async (options) => ({
        ...(await openBoth(openStore, openLog, options)),
        follow: makeFollow(),
      }),
    };
    describe(`${pair}, read by ${reader}`, () => {
      for (const { name, run } of cases) {
        it(name, async () => {
          await run(fixture);
          passed.set(`${pair}, ${reader}`, (passed.get(`${pair}, ${reader}`) ?? 0) + 1);
        });
      }
    });
  }
}

it("the suites are at least 350 cases over all backends", () => {
  const logs = eventLogCases.length + eventLogLossCases.length;
  const stores = sessionStoreCases.length;
  const delivery = cases.length;
  const rows = [
    ["EventLog", "memory, Redis", logs, 2],
    ["SessionStore", "memory, file, PostgreSQL", stores, 3],
    [
      "delivery by follow",
      "memory; file + memory; memory + Redis; PostgreSQL + Redis",
      delivery,
      4,
    ],
    ["delivery by a hub", "memory; file + memory; memory + Redis; PostgreSQL + Redis", delivery, 4],
  ] as const;
  const total = rows.reduce((sum, [, , count, backends]) => sum + count * backends, 0);

  for (const [suite, backends, count, times] of rows)
    console.log(`count: conformance, ${suite} on ${backends}: ${count} x ${times} cases`);
  console.log(
    `count: conformance, ${total} cases in all, ${logs + stores + delivery} of them distinct`,
  );

  expect(total).toBeGreaterThanOrEqual(350);
  // Those of this file were run, each on its backend.
  expect([...passed.values()]).toStrictEqual(Array.from({ length: 5 }, () => delivery));
});
