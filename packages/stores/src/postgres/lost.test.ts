import { systemClock } from "@millrace/core/memory";
import { randomUUID } from "node:crypto";
import { packEpoch } from "@millrace/core/ports";
import type { AcceptOutcome, Clock, SessionStore } from "@millrace/core/ports";
import { emptyState, replay } from "@millrace/core/reading";
import { callId, itemId, runId, sessionId, turnId } from "@millrace/core/writing";
import type { Fact, SessionId, SessionUid } from "@millrace/core";
import { Pool } from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { item, prompt } from "../testing/fixtures.ts";
import { patience } from "../../../../tests/kit/patience.ts";
import { openDatabase } from "../testing/postgres.ts";
import type { Database } from "../testing/postgres.ts";
import { isCommit, isCommitted, openProxy } from "../testing/proxy.ts";
import type { PostgresMessage, Proxy } from "../testing/proxy.ts";
import { runs } from "../../../../tests/kit/runs.ts";
import { postgresStore } from "./postgres-store.ts";
import type { PostgresStore } from "./postgres-store.ts";

let database: Database;
/** Not through a proxy. */
let direct: PostgresStore;

beforeAll(async () => {
  database = await openDatabase();
  direct = postgresStore({ pool: database.pool() });
});

afterAll(async () => {
  await database[Symbol.asyncDispose]();
});

/** A store on one connection that can be cut, and what is asked whenever a call is about to try again. */
interface Cuttable extends AsyncDisposable {
  readonly store: PostgresStore;
  readonly proxy: Proxy;
}

/** A pool of the test's, which sends statements together or one by one, or the store's own. */
const ways = ["pipelined", "one by one", "own"] as const;
type Way = (typeof ways)[number];

async function openCuttable(way: Way, options: CuttableOptions = {}): Promise<Cuttable> {
  const url = new URL(database.url);
  const { onRetry = async () => undefined, max = 1, to = Number(url.port) } = options;
  const proxy = await openProxy(to);
  url.port = `${proxy.port}`;
  const pool = new Pool({ connectionString: url.href, pipeline: way === "pipelined", max });
  pool.on("error", () => undefined);
  const clock: Clock = {
    now: () => 1_700_000_000_000,
    monotonic: () => 0,
    sleep: onRetry,
    after: systemClock.after,
  };
  const store = postgresStore(way === "own" ? { url: url.href, clock } : { pool, clock });
  return {
    store,
    proxy,
    [Symbol.asyncDispose]: async () => {
      proxy.decide = () => "pass";
      await store.close();
      await pool.end();
      await proxy[Symbol.asyncDispose]();
    },
  };
}

interface CuttableOptions {
  readonly onRetry?: () => Promise<void>;
  readonly max?: number;
  /** A port or a socket's path. The server's port by default. */
  readonly to?: number | string;
}

const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
const next = packEpoch({ incarnation: 1, generation: 2, attempt: 1 });
const inTurn = { runId: runId("run_1"), turnId: turnId("turn_1") };
const usage = { inputTokens: 1, outputTokens: 2, cachedTokens: 0 };
const toolItem = itemId("item_2");
const intent = {
  type: "tool_execution_started",
  ...inTurn,
  callId: callId("call_1"),
  tool: "search",
  input: {},
  itemId: toolItem,
  lane: 1,
  epoch: next,
} as const;

/** Each call that writes, on a session with lane 0 open and 2 facts. How many facts there are then. */
const calls: readonly (readonly [
  name: string,
  call: (store: SessionStore, uid: SessionUid) => Promise<{ readonly outcome?: string }>,
  outcome: string,
  facts: number,
])[] = [
  ["claim", (store, uid) => store.claim(uid, { from: 1 }), "claimed", 3],
  ["reset", (store, uid) => store.claim(uid, { from: 1, to: 1 }), "claimed", 3],
  ["accept", (store, uid) => store.accept(uid, "key_2", prompt("input_2")), "accepted", 3],
  [
    "open",
    (store, uid) => store.open(uid, { lane: 1, epoch: next, itemId: toolItem }),
    "opened",
    2,
  ],
  [
    "open with an intent",
    (store, uid) => store.open(uid, { lane: 1, epoch: next, itemId: toolItem, intent }),
    "opened",
    3,
  ],
  [
    "commit",
    (store, uid) =>
      store.commit(uid, {
        fact: { type: "item_committed", item: item("item_1"), lane: 0, epoch, ...inTurn },
        settlement: [{ type: "usage_reported", ...inTurn, epoch, usage }],
      }),
    "committed",
    4,
  ],
  [
    "append",
    (store, uid) =>
      store.append(uid, {
        incarnation: 1,
        head: 2,
        bodies: [
          { type: "run_started", runId: inTurn.runId },
          { type: "turn_started", ...inTurn },
        ],
      }),
    "appended",
    4,
  ],
];

async function newSession(): Promise<{ readonly uid: SessionUid; readonly name: SessionId }> {
  const name = sessionId(randomUUID());
  const { uid } = await direct.create({ sessionId: name });
  await direct.claim(uid, { from: 0 });
  await direct.accept(uid, "key_1", prompt("input_1"));
  await direct.open(uid, { lane: 0, epoch, itemId: itemId("item_1") });
  return { uid, name };
}

/** The store's state before a call: with the session's row in memory, without it, or without a connection. */
const starts = ["known", "unknown", "unconnected"] as const;

/** What was cut off. */
interface Cuts {
  points: number;
  /** Cuts before the server received the commit. */
  commits: number;
  /** Cuts before the client received the confirmation of the commit. */
  answers: number;
}

/** Drops the message of this number, from either side, and cuts the connection. Once. */
function cutAt(proxy: Proxy, number: number): { readonly cut: () => PostgresMessage | undefined } {
  let left = number;
  let kept: PostgresMessage | undefined;
  proxy.decide = (message) => {
    left -= 1;
    if (left !== 0) return "pass";
    kept = message;
    return "cut";
  };
  return { cut: () => kept };
}

/** Tries every row at points 1, 2, … until it returns false. Rows run at the same time. */
async function atEachPoint(
  rows: readonly ((point: number) => Promise<boolean>)[],
  most: number,
): Promise<void> {
  await Promise.all(
    rows.map(async (row) => {
      for (let point = 1; point <= most; point += 1) if (!(await row(point))) return;
    }),
  );
}

/** Each kind of call is cut at all of its points, and at some of opening a connection. */
const mostPoints = runs(80, 200);
const unconnectedPoints = runs(12, 200);

describe("a connection that is lost", () => {
  for (const [name, call, outcome, facts] of calls) {
    it(
      `between any two messages of ${name} costs nothing and doubles nothing`,
      async () => {
        const cuts: Cuts = { points: 0, commits: 0, answers: 0 };
        const tryAt = async (
          way: Way,
          start: (typeof starts)[number],
          point: number,
        ): Promise<boolean> => {
          const { uid, name: session } = await newSession();
          const look = async (): Promise<readonly Fact[]> => {
            const stored = await direct.read(uid);
            expect([2, facts]).toContain(stored.length); // all of the call, or nothing
            expect(stored.map(({ n }) => n)).toEqual(stored.map((_, at) => at + 1));
            expect(replay(emptyState(uid, session), stored).head).toBe(stored.length);
            // What was cut off may still be stored between the two.
            const verdict = await direct.verify(session);
            expect([stored.length, facts]).toContain(verdict.ok ? verdict.facts : verdict);
            return stored;
          };
          await using cuttable = await openCuttable(way, {
            onRetry: async () => void (await look()),
          });
          const { store, proxy } = cuttable;
          if (start === "known") await store.accept(uid, "key_1", prompt("input_1"));
          if (start === "unknown") await store.list({ limit: 1 });
          const { cut } = cutAt(proxy, point);

          const answer = await call(store, uid);

          expect(answer.outcome).toBe(outcome);
          const stored = await look();
          expect(stored).toHaveLength(facts);
          if ("facts" in answer) expect(answer.facts).toEqual(stored.slice(2));
          const message = cut();
          if (message === undefined) return false;
          cuts.points += 1;
          cuts.commits += isCommit(message) ? 1 : 0;
          cuts.answers += isCommitted(message) ? 1 : 0;
          return start !== "unconnected" || point < unconnectedPoints;
        };
        const rows = ways.flatMap((way) =>
          starts.map((start) => (point: number) => tryAt(way, start, point)),
        );

        await atEachPoint(rows, mostPoints);

        console.log(
          `count: ${name}: cut at ${cuts.points} points, ${cuts.commits} of them before COMMIT and ${cuts.answers} before its answer`,
        );
        expect(cuts.points).toBeGreaterThanOrEqual(100);
        expect(cuts.commits).toBeGreaterThanOrEqual(4);
        expect(cuts.answers).toBeGreaterThanOrEqual(4);
      },
      patience * 5,
    );
  }

  it(
    "between any two messages of create and fork leaves one session, whose record is returned",
    async () => {
      const source = await newSession();
      const cuts = { create: 0, fork: 0 };
      const make = {
        create: (store: SessionStore, id: SessionId) => store.create({ sessionId: id }),
        fork: (store: SessionStore, id: SessionId) =>
          store.fork(source.uid, { sessionId: id, n: 2 }),
      };
      const tryAt = async (way: Way, which: "create" | "fork", point: number): Promise<boolean> => {
        await using cuttable = await openCuttable(way);
        const { store, proxy } = cuttable;
        await store.list({ limit: 1 }); // so that no cut is spent on the handshake
        const { cut } = cutAt(proxy, point);
        const id = sessionId(randomUUID());

        const made = await make[which](store, id);

        expect(await direct.find(id)).toEqual(made);
        const stored = { ok: true, facts: which === "create" ? 0 : 2 };
        expect(await direct.verify(id)).toMatchObject(stored);
        cuts[which] += cut() === undefined ? 0 : 1;
        return cut() !== undefined;
      };
      const rows = ways.flatMap((way) =>
        (["create", "fork"] as const).map((which) => {
          return (point: number) => tryAt(way, which, point);
        }),
      );

      await atEachPoint(rows, mostPoints);

      console.log(`count: create: cut at ${cuts.create} points; fork: at ${cuts.fork}`);
      expect(cuts.create).toBeGreaterThanOrEqual(25);
      expect(cuts.fork).toBeGreaterThanOrEqual(25);
    },
    patience * 5,
  );

  it(
    "again and again makes a call throw, and asking again with the same key finds what was stored",
    async () => {
      const { uid, name } = await newSession();
      await using cuttable = await openCuttable("pipelined");
      const { store, proxy } = cuttable;
      const posts = runs(100, 5_000);
      // Of the handshake, of statements, of commits, as it comes.
      let seed = 1;
      proxy.decide = ({ from }) => {
        seed = (seed * 48_271) % 2_147_483_647;
        return from === "server" && seed % 40 === 0 ? "cut" : "pass";
      };
      let thrown = 0;
      const post = async (at: number): Promise<number> => {
        for (let tries = 0; tries < 1_000; tries += 1) {
          try {
            return placeOf(await store.accept(uid, `post_${at}`, prompt(`post_${at}`)));
          } catch {
            thrown += 1;
          }
        }
        throw new Error("it never gets through");
      };

      const places: number[] = [];
      for (let at = 0; at < posts; at += 1) places.push(await post(at));

      proxy.decide = () => "pass";
      console.log(`count: ${posts} posts, ${proxy.cuts()} cuts, ${thrown} calls thrown`);
      const facts = await direct.read(uid, { after: 2 });
      expect(facts.map(({ n }) => n)).toEqual(places);
      expect(facts.map(inputOf)).toEqual(places.map((_, at) => `post_${at}`));
      expect(await direct.verify(name)).toMatchObject({ ok: true });
      expect(proxy.cuts()).toBeGreaterThan(posts / 2);
      expect(thrown).toBeGreaterThan(0);
    },
    patience * 10,
  );
});

/** The number under which a post is stored. */
function placeOf(answer: AcceptOutcome): number {
  const fact = answer.outcome === "accepted" ? answer.facts[0] : undefined;
  return (answer.outcome === "duplicate" ? answer.fact : fact)?.n ?? 0;
}

function inputOf(fact: Fact): string | undefined {
  return fact.type === "input_accepted" ? fact.inputId : undefined;
}

it(
  "each post is stored once, though half of the answers are lost",
  async () => {
    const posts = Number(process.env["POSTS"] ?? runs(20_000, 200_000, 4_000));
    const writers = 40;
    // Over the server's socket: a password costs some milliseconds for each of 10,000 connections.
    const [{ unix_socket_directories: folder } = {}] = await database.admin(
      "show unix_socket_directories",
    );
    const to = `${String(folder)}/.s.PGSQL.${new URL(database.url).port}`;
    await using cuttable = await openCuttable("pipelined", { max: writers, to });
    const { store, proxy } = cuttable;
    let [answers, lost, seed] = [0, 0, 1];
    proxy.decide = (message) => {
      if (!isCommitted(message)) return "pass";
      answers += 1;
      seed = (seed * 48_271) % 2_147_483_647;
      if (seed % 2 === 0) return "pass";
      lost += 1;
      return "cut";
    };
    const sessions = await Promise.all(Array.from({ length: writers }, newSession));
    const begun = performance.now();

    await Promise.all(
      sessions.map(async ({ uid }, writer) => {
        for (let at = writer; at < posts; at += writers) {
          const place = placeOf(await store.accept(uid, `post_${at}`, prompt(`post_${at}`)));
          expect(place).toBe(3 + Math.floor(at / writers));
        }
      }),
    );

    const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
    proxy.decide = () => "pass";
    console.log(
      `count: ${posts} posts, ${answers} answers of COMMIT, ${lost} of them lost, in ${seconds} s`,
    );
    let stored = 0;
    for (const [writer, { uid, name }] of sessions.entries()) {
      const inputs = (await direct.read(uid, { after: 2 })).map(inputOf);
      expect(inputs).toEqual(inputs.map((_, at) => `post_${writer + at * writers}`));
      expect(await direct.verify(name)).toMatchObject({ ok: true });
      stored += inputs.length;
    }
    expect(stored).toBe(posts);
    expect(answers).toBe(posts);
    expect(lost).toBeGreaterThan(posts * 0.48);
  },
  patience * 10,
);
