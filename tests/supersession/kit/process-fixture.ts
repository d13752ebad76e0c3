import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpackEpoch } from "@millrace/core/ports";
import type { SessionRecord } from "@millrace/core/ports";
import { sessionId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { FactOf } from "@millrace/core/writing";
import { sharedPostgres, sharedRedis } from "../../../scripts/services/shared.ts";
import type { PostgresSpace } from "../../../scripts/services/shared.ts";
import { ViewerGroup, openNode } from "./viewer-group.ts";
import type { Engines, Node } from "./viewer-group.ts";
import { textOfReply } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { bundleChild, Process } from "./process.ts";
import { openHoldingProxy } from "./holding-proxy.ts";
import type { HoldingProxy } from "./holding-proxy.ts";

/** The engines, and processes that wait to take up what others leave. */
export class ProcessFixture implements AsyncDisposable {
  readonly engines: Engines;
  readonly node: Node;
  readonly #database: PostgresSpace;
  readonly #folder: string;
  readonly #program: string;
  readonly #idle: Process[] = [];
  readonly #seconds: Process[] = [];
  #trials = 0;
  #batches = 0;

  private constructor(database: PostgresSpace, engines: Engines, folder: string, program: string) {
    this.#database = database;
    this.engines = engines;
    this.node = openNode(engines);
    this.#folder = folder;
    this.#program = program;
  }

  static async open(): Promise<ProcessFixture> {
    const database = await sharedPostgres();
    const redis = await sharedRedis();
    const folder = await mkdtemp(join(tmpdir(), "millrace-supersession-"));
    const program = await bundleChild(folder);
    const engines = { postgres: database.url, redis: redis.url, prefix: redis.prefix };
    const fixture = new ProcessFixture(database, engines, folder, program);
    await fixture.node.store.migrate();
    await fixture.#measureReply();
    return fixture;
  }

  /** The number of batches of an undisturbed reply. */
  get batches(): number {
    return this.#batches;
  }

  /**
   * Starts a first writer, behind proxies, and waits until it has opened its session. There is no
   * viewer yet.
   */
  async begin(plan: Pick<Plan, "pauseAt" | "endAt" | "how"> = {}): Promise<Trial> {
    this.#trials += 1;
    const id = `trial_${this.#trials}`;
    const [postgres, redis] = await Promise.all([
      openHoldingProxy(this.engines.postgres),
      openHoldingProxy(this.engines.redis),
    ]);
    const ports = { ...this.engines, postgres: postgres.url, redis: redis.url };
    const first = this.#start({ ...ports, name: "first", ...plan });
    first.send(`begin ${id}`);
    await first.waitForLine("opened");
    const record = await this.node.store.find(sessionId(id));
    if (record === undefined) throw new Error(`${id} is not stored`);
    return new Trial({ fixture: this, first, record, proxies: { postgres, redis } });
  }

  /**
   * A second process resumes the session. Resolves to the line with which it reports the run's end.
   */
  async finish(id: string): Promise<string> {
    const second = this.#idle.pop() ?? this.#start({ ...this.engines, name: "second" });
    if (!this.#seconds.includes(second)) this.#seconds.push(second);
    second.send(`finish ${id}`);
    const said = await second.waitForLine("done");
    this.#idle.push(second);
    return said;
  }

  /** The items of a session by the rows of the database, as id and text. */
  async storedItems(uid: string): Promise<readonly string[]> {
    const sql = `set millrace.tenant = 'default';
      select count(*) from millrace.item where uid = '${uid}';
      select body from millrace.fact where uid = '${uid}' and type in ('item_committed', 'item_replaced') order by n`;
    const [count, ...bodies] = (
      await this.#database.server.query(sql, this.#database.database)
    ).split("\n");
    if (Number(count) !== bodies.length)
      throw new Error(`${uid} has ${count} items in ${bodies.length} facts`);
    return bodies;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#seconds.map((second) => second[Symbol.asyncDispose]()));
    await this.node[Symbol.asyncDispose]();
    await this.#database[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #measureReply(): Promise<void> {
    await using trial = await this.begin();
    trial.first.send("go");
    const said = await trial.first.waitForLine("done");
    this.#batches = Number(/after (\d+):/.exec(said)?.[1]);
  }

  #start(plan: Plan): Process {
    return new Process(this.#program, plan);
  }
}

interface TrialParts {
  readonly fixture: ProcessFixture;
  readonly first: Process;
  readonly record: SessionRecord;
  readonly proxies: { readonly postgres: HoldingProxy; readonly redis: HoldingProxy };
}

/** One session, from its first writer's start to the end of its run. */
export class Trial implements AsyncDisposable {
  readonly first: Process;
  readonly proxies: TrialParts["proxies"];
  readonly record: SessionRecord;
  readonly viewers: ViewerGroup;
  readonly #fixture: ProcessFixture;

  constructor({ fixture, first, record, proxies }: TrialParts) {
    this.#fixture = fixture;
    this.first = first;
    this.record = record;
    this.proxies = proxies;
    const { uid, sessionId } = record;
    const { engines } = fixture;
    this.viewers = new ViewerGroup({
      engines,
      uid,
      sessionId,
      // The first writer claims first, and any later one is the second.
      wholeText: (_, epoch) =>
        textOfReply(unpackEpoch(epoch).incarnation === 1 ? "first" : "second"),
    });
  }

  finish(): Promise<string> {
    return this.#fixture.finish(this.record.sessionId);
  }

  facts(): Promise<readonly Fact[]> {
    return this.#fixture.node.store.read(this.record.uid);
  }

  /** How many of the viewers have shown some text of this incarnation's attempt. */
  saw(incarnation: number): number {
    const shown = this.viewers.all.map((viewer) => viewer.shown());
    return shown.filter((epochs) =>
      epochs.some((epoch) => unpackEpoch(epoch).incarnation === incarnation),
    ).length;
  }

  /**
   * Every viewer's last state is the store's, which is sound and has one item for the reply.
   * Resolves to that item's text and the incarnation that stored it.
   */
  async check(): Promise<{ readonly text: string; readonly incarnation: number }> {
    const { uid, sessionId } = this.record;
    const facts = await this.facts();
    await this.viewers.converge(facts);
    facts.forEach((fact, at) => {
      if (fact.n !== at + 1) throw new Error(`fact ${at + 1} is numbered ${fact.n}`);
    });
    const verdict = await this.#fixture.node.store.verify(sessionId);
    if (!verdict.ok) throw new Error(`the store is damaged: ${verdict.message}`);
    const rows = await this.#fixture.storedItems(uid);
    const replies = facts.filter(
      (fact): fact is FactOf<"item_committed"> =>
        fact.type === "item_committed" && fact.item.author === "model",
    );
    const [reply] = replies;
    if (rows.length !== 2 || replies.length !== 1 || reply?.epoch === undefined)
      throw new Error(`there are ${rows.length} items, of which ${replies.length} replies`);
    const runs = facts.filter(({ type }) => type === "run_finished");
    if (runs.length !== 1) throw new Error(`the run ended ${runs.length} times`);
    const text = reply.item.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
    const { incarnation } = unpackEpoch(reply.epoch);
    const whole = textOfReply(incarnation === 1 ? "first" : "second");
    if (text !== whole || reply.item.stop !== "end")
      throw new Error(`${incarnation} stored "${text}" as ${reply.item.stop}`);
    return { text, incarnation };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.viewers.close();
    await this.first[Symbol.asyncDispose]();
    await this.proxies.redis[Symbol.asyncDispose]();
    await this.proxies.postgres[Symbol.asyncDispose]();
  }
}

/** Does all jobs, some at once. What fails is thrown once all have ended. */
export async function inParallel(
  jobs: readonly (() => Promise<void>)[],
  atOnce: number,
): Promise<void> {
  const failures: unknown[] = [];
  const waiting = jobs.values();
  const work = async (): Promise<void> => {
    for (const job of waiting) await job().catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length === 0) return;
  const some = failures.slice(0, 5).map((failure) => String(failure));
  throw new Error(`${failures.length} of ${jobs.length} failed:\n${some.join("\n\n")}`);
}
