import { memorySessionStore } from "@millrace/core/memory";
import { sessionId, sessionUid } from "@millrace/core/writing";
import type { Client } from "@temporalio/client";
import { afterEach, expect, test, vi } from "vitest";
import { temporalDriver } from "./temporal-driver.ts";
import type { TemporalDriverEvent, TemporalDriverOptions } from "./options.ts";

const store = memorySessionStore();
// Never called: only what it has is looked at.
const client = { workflow: {} } as unknown as Client;

test.each<[string, TemporalDriverOptions, string]>([
  ["no store", {}, "store is missing, in which lost wakes are found: pass the store of the server"],
  ["a store without an index", { store: {} }, "store has no index of drivers"],
  [
    "an address beside a client",
    { store, client, address: "a:1" },
    "address is given beside a client",
  ],
  ["another machine without TLS", { store, address: "temporal.example:7233" }, "set tls: true"],
  [
    "TLS switched off beside a key",
    { store, address: "t.example:1", tls: false, apiKey: "k" },
    "tls",
  ],
  ["an empty queue", { store, taskQueue: "" }, "taskQueue"],
  ["a workflow without a name", { store, workflowType: "" }, "use the name of a workflow"],
  [
    "an id for all sessions",
    { store, workflowId: "w" as unknown as () => string },
    "use a function that returns the id",
  ],
])("%s is refused, with what to do", (_, options, message) => {
  expect(() => temporalDriver(options)).toThrow(message);
});

test.each<[string, TemporalDriverOptions]>([
  ["this machine", { store, address: "localhost:7233" }],
  ["TLS", { store, address: "temporal.example:7233", tls: true }],
  ["a key, which turns TLS on", { store, address: "temporal.example:7233", apiKey: "a key" }],
  ["a network that is trusted", { store, address: "temporal.example:7233", allowPlain: true }],
  ["an index without a store", { index: { due: async () => [] } }],
])("%s is accepted, and nothing is connected before the first wake", async (_, options) => {
  await using driver = temporalDriver(options);
  await driver.close();
});

afterEach(() => vi.unstubAllEnvs());

test("an address of the environment is checked as one that is given", async () => {
  vi.stubEnv("TEMPORAL_ADDRESS", "temporal.example:7233");

  expect(() => temporalDriver({ store })).toThrow("the connection to temporal.example");
  await using driver = temporalDriver({ store, client }); // which has an address of its own
  await driver.close();
});

test("a tenant whose lost wakes the store does not list is warned of, once", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockReturnValue();
  const one = { ...store, ownTenant: "default", forTenant: () => store };
  // As far as a driver uses one.
  const down = {
    workflow: {},
    withDeadline: () => Promise.reject(new Error("away")),
  } as unknown as Client;
  await using driver = temporalDriver({ store: one, client: down });
  const created = await store.create({ sessionId: "s" });

  for (const tenant of ["default", "t1", "t2"]) driver.wake({ ...created, tenant });

  expect(warned.mock.calls.map(([message]) => String(message))).toEqual([
    expect.stringContaining('lists work of the tenant "default" alone'),
  ]);
  warned.mockRestore();
});

test.each([
  ["throws", () => fail()],
  ["returns nothing", () => ""],
])("a workflowId that %s refuses its session, and no other waits for it", async (_, workflowId) => {
  const events: TemporalDriverEvent[] = [];
  const idle = { workflow: {}, withDeadline: async () => undefined } as unknown as Client;
  await using driver = temporalDriver({
    store,
    client: idle,
    workflowId: (session) => (session.sessionId === "bad" ? workflowId() : "w"),
    onEvent: (event) => void events.push(event),
  });
  const uid = sessionUid("u");

  driver.wake({ uid, sessionId: sessionId("bad"), head: 1 });
  driver.wake({ uid: sessionUid("v"), sessionId: sessionId("good"), head: 1 });
  await driver.close();

  expect(events).toMatchObject([{ type: "wake_refused", sessionId: "bad" }]);
});

function fail(): never {
  throw new Error("no id");
}
