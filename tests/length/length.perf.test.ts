import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { defineAgent } from "@millrace/agent";
import { follow } from "@millrace/core/reading";
import { say, scriptedModel } from "@millrace/core/testing";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import { encodeMessage } from "@millrace/core/wire";
import { createHub } from "@millrace/server/hub";
import { fileStore } from "@millrace/stores/file";
import { postgresStore } from "@millrace/stores/postgres";
import type { Session } from "@millrace/agent";
import type { EventLog, SessionRecord, SessionStore } from "@millrace/core/ports";
import { sharedPostgres } from "../../scripts/services/shared.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";
import { longSession } from "./long-session.ts";

const campaign = process.env["CAMPAIGN"] === "1";
vi.setConfig({ testTimeout: campaign ? 3_600_000 : 300_000 });

const sizes = campaign ? [1_000, 10_000, 100_000] : [1_000, 10_000];
/** The factor by which no cost grows from the smallest to the largest. */
const atMost = 1.3;
const budget = 256 * 1_024;
/** Everything of a snapshot but its items, in an idle session. */
const besides = 4_096;

interface Ports extends AsyncDisposable {
  readonly store: SessionStore;
  readonly log: EventLog;
}

type Opening = readonly [name: string, open: () => Promise<Ports>];

const openings: readonly Opening[] = [
  [
    "memory",
    async () => ({
      store: memorySessionStore(),
      log: memoryEventLog(),
      [Symbol.asyncDispose]: async () => undefined,
    }),
  ],
  [
    "files",
    async () => {
      const folder = await mkdtemp(join(tmpdir(), "millrace-length-"));
      const store = fileStore(folder, { fsync: "never" });
      const close = async (): Promise<void> => {
        await store.close();
        await rm(folder, { recursive: true });
      };
      return { store, log: memoryEventLog(), [Symbol.asyncDispose]: close };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const database = await sharedPostgres();
      const store = postgresStore({ url: database.url });
      await store.migrate();
      const close = async (): Promise<void> => {
        await store.close();
        await database[Symbol.asyncDispose]();
      };
      return { store, log: memoryEventLog(), [Symbol.asyncDispose]: close };
    },
  ],
];

/** A store without checkpoints reads all facts to open, so it is not measured. */
async function keepsCheckpoints([, open]: Opening): Promise<boolean> {
  await using ports = await open();
  return ports.store.keepCheckpoint !== undefined;
}

const able = await Promise.all(openings.map(keepsCheckpoints));
const backends = openings.filter((_, at) => able[at]);

/** What an operation reads at most: a hub's facts for viewers that reconnect, and those since the checkpoint. */
const factsAtMost = 1_024;

/** The store, with the facts that it gives out counted. */
function countingStore(store: SessionStore, given: { facts: number }): SessionStore {
  const read: SessionStore["read"] = async (uid, options) => {
    const facts = await store.read(uid, options);
    given.facts += facts.length;
    return facts;
  };
  return new Proxy(store, {
    get: (target, key): unknown => {
      if (key === "read") return read;
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}

/** A model that always has another reply. */
const words = "one two three four five six seven eight nine ten ".repeat(4);
const replies = Array.from({ length: 20_000 }, () => [say(words)]);
const agent = defineAgent({ model: scriptedModel(replies, { chunk: [5] }) });

interface Long extends Pick<Ports, "store" | "log"> {
  readonly record: SessionRecord;
  session: Session;
}

/** A long session with a checkpoint, as its driver keeps one after a run. */
async function prepare(
  { store, log }: Pick<Ports, "store" | "log">,
  id: string,
  size: number,
): Promise<Long> {
  const record = await longSession(store, id, size);
  const first = await agent.open({ id, store, log });
  await first.send("hello").result;
  await expect.poll(() => store.checkpoint?.(record.uid)).toBeDefined();
  await first.close();
  const session = await agent.open({ id, store, log });
  expect(session.earlier?.count).toBeGreaterThan(0);
  return { store, log, record, session };
}

/** The processor time of some work, in milliseconds: waiting for a window costs nothing. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

async function firstOf<T>(messages: AsyncIterable<T>): Promise<T> {
  for await (const message of messages) return message;
  throw new Error("nothing came");
}

const costs: Readonly<Record<string, (long: Long) => Promise<number>>> = {
  open: async (long) => {
    const { store, log, record } = long;
    await long.session.close();
    return await timed(async () => {
      long.session = await agent.open({ id: record.sessionId, store, log });
    });
  },
  send: async ({ session }) => await timed(() => session.send("hello").result),
  "a run with narrate()": async ({ session }) =>
    await timed(async () => {
      let texts = 0;
      for await (const { type } of session.send("hello").narrate())
        if (type === "assistant_text_delta") texts += 1;
      expect(texts).toBeGreaterThan(0);
    }),
  "follow from head - 1": async ({ store, log, record }) => {
    const { uid, sessionId } = record;
    const head = await store.head(uid);
    return await timed(async () => {
      const cursor = { uid, head: head - 1, lanes: [] };
      const followed = follow({ store, log, clock: systemClock, uid, sessionId, cursor });
      const { message } = await firstOf(followed);
      expect("n" in message && message.n).toBe(head);
    });
  },
  "first join": async ({ store, log, record }) => {
    using hub = createHub({ store, log, clock: systemClock });
    return await timed(async () => {
      const { message } = await firstOf(hub.watch(record));
      const { length } = Buffer.from(encodeMessage(message));
      expect(length).toBeLessThanOrEqual(budget + besides);
      expect(length).toBeGreaterThan(budget / 2);
    });
  },
  "one view": async ({ session }) =>
    await timed(async () => {
      for (let time = 0; time < 100; time += 1) expect(session.items.length).toBeGreaterThan(0);
    }),
  "one delta with a view": async ({ session }) =>
    await timed(async () => {
      for await (const { type } of session.send("hello").narrate())
        if (type === "assistant_text_delta") expect(session.items.length).toBeGreaterThan(0);
    }),
};

const rounds = 12;
type Figures = Readonly<Record<string, number>>;

it.each(backends)(
  "on %s nothing that a session costs grows with its length",
  async (name, open) => {
    await using opened = await open();
    const given = { facts: 0 };
    const ports = { store: countingStore(opened.store, given), log: opened.log };
    const sessions = new Map<number, Long>();
    for (const size of sizes)
      sessions.set(size, await prepare(ports, `long-${size}-${process.pid}`, size));
    const measure = async (): Promise<Figures> => {
      const figures: Record<string, number> = {};
      for (const [what, cost] of Object.entries(costs)) {
        const least = new Map<number, number>();
        for (let round = 0; round < rounds; round += 1)
          for (const [size, long] of sessions) {
            given.facts = 0;
            least.set(size, Math.min(least.get(size) ?? Infinity, await cost(long)));
            expect(given.facts, `the facts read for ${what}`).toBeLessThanOrEqual(factsAtMost);
          }
        const [first, last] = [least.get(sizes[0] ?? 0), least.get(sizes.at(-1) ?? 0)];
        figures[what] = Number(((last ?? Infinity) / (first ?? 1)).toFixed(3));
      }
      return figures;
    };
    const figures = await retryWhenNoisy(measure, (all) =>
      Object.values(all).every((factor) => factor <= atMost),
    );

    console.log(`growth on ${name}, ${sizes.join(", ")} facts: ${JSON.stringify(figures)}`);
    for (const [what, factor] of Object.entries(figures))
      expect(factor, `the growth of ${what}`).toBeLessThanOrEqual(atMost);
    for (const long of sessions.values()) await long.session.close();
  },
);
