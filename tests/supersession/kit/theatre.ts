import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpackEpoch } from "@millrace/core/ports";
import { sessionId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import type { FactOf } from "@millrace/core/writing";
import { sharedPostgres, sharedRedis } from "../../../scripts/services/shared.ts";
import type { PostgresSpace } from "../../../scripts/services/shared.ts";
import { Audience, openNode } from "./audience.ts";
import type { Engines, Node } from "./audience.ts";
import { textOfReply } from "./plan.ts";
import type { Plan } from "./plan.ts";
import { bundleChild, Process } from "./process.ts";
import { openValve } from "./valve.ts";
import type { Valve } from "./valve.ts";

/** The engines, and processes that wait to take up what others leave. */
export class Theatre implements AsyncDisposable {
  readonly engines: Engines;
  readonly node: Node;
  readonly #database: PostgresSpace;
  readonly #folder: string;
  readonly #program: string;
  readonly #idle: Process[] = [];
  readonly #seconds: Process[] = [];
  #scenes = 0;
  #batches = 0;

  private constructor(database: PostgresSpace, engines: Engines, folder: string, program: string) {
    this.#database = database;
    this.engines = engines;
    this.node = openNode(engines);
    this.#folder = folder;
    this.#program = program;
  }

  static async open(): Promise<Theatre> {
    const database = await sharedPostgres();
    const redis = await sharedRedis();
    const folder = await mkdtemp(join(tmpdir(), "millrace-supersession-"));
    const program = await bundleChild(folder);
    const engines = { postgres: database.url, redis: redis.url, prefix: redis.prefix };
    const theatre = new Theatre(database, engines, folder, program);
    await theatre.node.store.migrate();
    await theatre.#rehearse();
    return theatre;
  }

  /** The batches of a reply that nobody disturbs. */
  get batches(): number {
    return this.#batches;
  }

  /** A first writer that has opened its session, behind valves, and an audience that is empty yet. */
  async begin(plan: Pick<Plan, "pauseAt" | "endAt" | "how"> = {}): Promise<Scene> {
    this.#scenes += 1;
    const id = `scene_${this.#scenes}`;
    const [postgres, redis] = await Promise.all([
      openValve(this.engines.postgres),
      openValve(this.engines.redis),
    ]);
    const ports = { ...this.engines, postgres: postgres.url, redis: redis.url };
    const first = this.#start({ ...ports, name: "first", ...plan });
    first.tell(`begin ${id}`);
    await first.says("opened");
    const record = await this.node.store.find(sessionId(id));
    if (record === undefined) throw new Error(`${id} is not stored`);
    return new Scene({ theatre: this, first, record, valves: { postgres, redis } });
  }

  /** A second process takes the session up and says how its run ended. */
  async finish(id: string): Promise<string> {
    const second = this.#idle.pop() ?? this.#start({ ...this.engines, name: "second" });
    if (!this.#seconds.includes(second)) this.#seconds.push(second);
    second.tell(`finish ${id}`);
    const said = await second.says("done");
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

  async #rehearse(): Promise<void> {
    await using scene = await this.begin();
    scene.first.tell("go");
    const said = await scene.first.says("done");
    this.#batches = Number(/after (\d+):/.exec(said)?.[1]);
  }

  #start(plan: Plan): Process {
    return new Process(this.#program, plan);
  }
}

interface SceneParts {
  readonly theatre: Theatre;
  readonly first: Process;
  readonly record: SessionRecord;
  readonly valves: { readonly postgres: Valve; readonly redis: Valve };
}

/** One session, from its first writer's start to the end of its run. */
export class Scene implements AsyncDisposable {
  readonly first: Process;
  readonly valves: SceneParts["valves"];
  readonly record: SessionRecord;
  readonly audience: Audience;
  readonly #theatre: Theatre;

  constructor({ theatre, first, record, valves }: SceneParts) {
    this.#theatre = theatre;
    this.first = first;
    this.record = record;
    this.valves = valves;
    const { uid, sessionId } = record;
    const { engines } = theatre;
    this.audience = new Audience({
      engines,
      uid,
      sessionId,
      // The first writer claims first, and whoever comes next is the second.
      wholeText: (_, epoch) =>
        textOfReply(unpackEpoch(epoch).incarnation === 1 ? "first" : "second"),
    });
  }

  finish(): Promise<string> {
    return this.#theatre.finish(this.record.sessionId);
  }

  facts(): Promise<readonly Fact[]> {
    return this.#theatre.node.store.read(this.record.uid);
  }

  /** How many of the audience have shown some text of this incarnation's attempt. */
  saw(incarnation: number): number {
    const shown = this.audience.witnesses.map((witness) => witness.shown());
    return shown.filter((epochs) =>
      epochs.some((epoch) => unpackEpoch(epoch).incarnation === incarnation),
    ).length;
  }

  /**
   * Everybody's last state is the store's, which is sound and has one item for the reply. Resolves
   * with that item's text and the incarnation that stored it.
   */
  async check(): Promise<{ readonly text: string; readonly incarnation: number }> {
    const { uid, sessionId } = this.record;
    const facts = await this.facts();
    await this.audience.converge(facts);
    facts.forEach((fact, at) => {
      if (fact.n !== at + 1) throw new Error(`fact ${at + 1} is numbered ${fact.n}`);
    });
    const verdict = await this.#theatre.node.store.verify(sessionId);
    if (!verdict.ok) throw new Error(`the store is damaged: ${verdict.message}`);
    const rows = await this.#theatre.storedItems(uid);
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
    await this.audience.close();
    await this.first[Symbol.asyncDispose]();
    await this.valves.redis[Symbol.asyncDispose]();
    await this.valves.postgres[Symbol.asyncDispose]();
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
