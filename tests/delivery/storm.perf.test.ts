import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { inputId } from "@millrace/core/writing";
import { postgresStore } from "@millrace/stores/postgres";
import type { PostgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import type { RedisLog } from "@millrace/stores/redis";
import { expect, it } from "vitest";
import { startPostgres } from "../../scripts/services/postgres.ts";
import { startRedis } from "../../scripts/services/redis.ts";
import { runs } from "../kit/runs.ts";
import type { ClientsRequest, ClientsStanding } from "./kit/storm-clients.ts";
import type { ServerRequest, SessionReads, StormSession } from "./kit/storm-server.ts";

const viewers = runs(5_000, 10_000);
const storms = runs(1, 20);
const sessionCount = 50;
/** Viewers return within this time, each after a part of it: a tenth of them in a second. */
const spreadMs = 10_000;
const returnWithinMs = 30_000;

/** A process of this test, which is ended with it. */
class Child<Request> implements Disposable {
  readonly #process: ChildProcess;

  constructor(program: string) {
    const path = fileURLToPath(new URL(program, import.meta.url));
    this.#process = fork(path, {
      execArgv: ["--conditions=@millrace/source", "--no-warnings"],
      serialization: "advanced",
    });
  }

  async ask(request: Request & object): Promise<unknown> {
    this.#process.send(request);
    const [answer] = (await once(this.#process, "message")) as [{ readonly given: unknown }];
    return answer.given;
  }

  async kill(): Promise<void> {
    const exited = once(this.#process, "exit");
    this.#process.kill("SIGKILL");
    await exited;
  }

  [Symbol.dispose](): void {
    this.#process.kill("SIGKILL");
  }
}

/** The sessions that are watched, to which inputs are posted all the time. */
class PostedSessions implements AsyncDisposable {
  readonly all: readonly StormSession[];
  readonly #store: PostgresStore;
  readonly #log: RedisLog;
  readonly #posting: Promise<void>;
  #inputs = 0;
  #over = false;

  private constructor(all: readonly StormSession[], store: PostgresStore, log: RedisLog) {
    this.all = all;
    this.#store = store;
    this.#log = log;
    this.#posting = this.#postOnAndOn();
  }

  static async open(store: PostgresStore, log: RedisLog): Promise<PostedSessions> {
    const all: StormSession[] = [];
    for (let at = 0; at < sessionCount; at += 1) {
      const { uid, sessionId } = await store.create({ sessionId: `storm ${at}` });
      log.setKey(uid, await store.key(uid));
      await store.claim(uid, { from: 0 });
      all.push({ uid, sessionId });
    }
    return new PostedSessions(all, store, log);
  }

  /** Stops posting, posts once more to each session, and returns the heads. */
  async finish(): Promise<readonly number[]> {
    this.#over = true;
    await this.#posting;
    for (const session of this.all) await this.#post(session);
    return Promise.all(this.all.map(({ uid }) => this.#store.head(uid)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over = true;
    await this.#posting;
  }

  async #postOnAndOn(): Promise<void> {
    for (let at = 0; !this.#over; at += 1) {
      const session = this.all[at % this.all.length];
      if (session !== undefined) await this.#post(session);
      await sleep(100);
    }
  }

  async #post({ uid }: StormSession): Promise<void> {
    this.#inputs += 1;
    const id = inputId(`input_${this.#inputs}`);
    const input = { kind: "prompt", parts: [] } as const;
    const answer = await this.#store.accept(uid, id, {
      type: "input_accepted",
      inputId: id,
      input,
    });
    if (answer.outcome !== "accepted") throw new Error(answer.outcome);
    for (const fact of answer.facts) await this.#log.announce(uid, fact);
  }
}

type Clients = Child<ClientsRequest>;
type Server = Child<ServerRequest>;

async function standingOf(clients: Clients): Promise<ClientsStanding> {
  return (await clients.ask({ ask: "standing" })) as ClientsStanding; // what it answers to that
}

async function until(
  clients: Clients,
  isSo: (standing: ClientsStanding) => boolean,
  withinMs: number,
): Promise<ClientsStanding> {
  const start = performance.now();
  for (;;) {
    const standing = await standingOf(clients);
    if (isSo(standing)) return standing;
    if (performance.now() - start > withinMs) {
      const { attached, faults, heads } = standing;
      throw new Error(`not within ${withinMs} ms: ${JSON.stringify({ attached, faults, heads })}`);
    }
    await sleep(250);
  }
}

it(`${viewers} viewers of a server that is killed are back within 30 s, and cost each session one read in 100 ms`, async () => {
  await using postgres = await startPostgres();
  await using redis = await startRedis();
  await using store = postgresStore({ url: postgres.url });
  await store.migrate();
  await using log = redisLog({ url: redis.url });
  await using sessions = await PostedSessions.open(store, log);
  using clients: Clients = new Child("kit/storm-clients.ts");
  const listen = async (server: Server, port: number): Promise<number> => {
    const place = { postgres: postgres.url, redis: redis.url, sessions: sessions.all };
    return Number(await server.ask({ ask: "listen", port, ...place }));
  };
  let server: Server = new Child("kit/storm-server.ts");
  const port = await listen(server, 0);
  const [count, spread] = [viewers, { spreadMs: viewers }];
  await clients.ask({ ask: "connect", port, count, sessions: sessionCount, ...spread });
  await until(clients, ({ attached }) => attached === viewers, 120_000);

  for (let storm = 1; storm <= storms; storm += 1) {
    const next: Server = new Child("kit/storm-server.ts");
    await next.ask({ ask: "reads" }); // it has started
    await clients.ask({ ask: "storm", spreadMs });
    await server.kill();
    server = next;
    await listen(server, port);
    // Under load a viewer notices only later that its server is gone.
    const isBack = ({ attached, cuts }: ClientsStanding): boolean =>
      attached === viewers && cuts >= viewers;
    const back = await until(clients, isBack, 60_000);
    const reads = (await server.ask({ ask: "reads" })) as SessionReads; // what it answers to that
    const { p50, p99, all } = back.returnedMs;
    console.log(
      `count: P21 storm ${storm}: ${viewers} viewers of ${sessionCount} sessions, p50 ${(p50 / 1_000).toFixed(1)} s, p99 ${(p99 / 1_000).toFixed(1)} s, all ${(all / 1_000).toFixed(1)} s;`,
      `${back.attempts} attempts, at most ${back.attemptsPerSecond} in a second;`,
      `${reads.heads} reads of a head and ${reads.facts} of facts after it, ${reads.headsGapMs.toFixed(0)} and ${reads.factsGapMs.toFixed(0)} ms apart at least; ${back.cuts - viewers} evicted`,
    );
    expect(p99).toBeLessThanOrEqual(returnWithinMs);
    expect(back.cuts).toBe(viewers);
    // A timer of Node ends early by the length of the turn in which it was set, which is long under load.
    expect(Math.min(reads.headsGapMs, reads.factsGapMs)).toBeGreaterThan(50);
    expect(reads.heads).toBeLessThanOrEqual(sessionCount * (all / 100 + 1));
  }

  const heads = await sessions.finish();
  const end = await until(
    clients,
    (standing) => standing.heads.every((head, at) => head === heads[at]),
    10_000,
  );
  expect([end.faults, end.attached]).toEqual([[], viewers]);
  server[Symbol.dispose]();
}, 3_600_000);
