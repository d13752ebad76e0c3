import { defineAgent } from "@millrace/agent";
import type { Agent, Session } from "@millrace/agent";
import { checkTranscript } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { EventLog, ModelRequest, SessionStore } from "@millrace/core/ports";
import { memoryEventLog, memorySessionStore } from "@millrace/core/memory";
import { countingIds } from "@millrace/core/testing";
import { assemble } from "../../../packages/agent/src/context/assemble.ts";
import { Random } from "../../kit/random.ts";
import { heldClock, rest, steps, watched } from "./clock.ts";
import type { HeldClock } from "./clock.ts";
import { dialects, refusedBy } from "./dialects.ts";
import { isSummary, randomModel } from "./model.ts";
import { anyInput, manyTools } from "./tools.ts";

/** What happened in a session, by name: tests check that all of it occurred. */
export type Tally = Map<string, number>;

/**
 * One session with everything that may happen to it, drawn at random: inputs at any moment, models
 * that emit any content, processes that end anywhere, time. All of it in one process, with the same
 * course for the same seed.
 */
export class World {
  readonly #random: Random;
  readonly #clock: HeldClock = heldClock();
  readonly #store: SessionStore;
  readonly #log: EventLog = memoryEventLog();
  readonly #makeId = countingIds();
  readonly #tally: Tally;
  readonly #agents: readonly Agent[];
  /** Sessions of processes that are gone but do not know it. */
  readonly #zombies: Session[] = [];
  readonly #broken: string[] = [];
  #tired = false;
  #name = "s";
  #forks = 0;
  #session: Session | undefined;

  constructor(seed: number, tally: Tally) {
    this.#random = new Random(seed);
    this.#tally = tally;
    this.#store = memorySessionStore({ clock: this.#clock, makeId: this.#makeId });
    this.#agents = this.#drawAgents();
  }

  /** Lives it, and gives what is wrong with it. */
  async live(): Promise<readonly string[]> {
    await this.#open();
    for (let left = this.#drawLength(); left > 0; left -= 1) {
      await this.#happen();
      if (this.#random.chance(0.5)) await rest();
      else await steps(this.#random.below(25));
      if (this.#random.chance(0.1)) this.#checkNow();
      if (this.#broken.length > 0) break;
    }
    if (this.#broken.length === 0) await this.#end();
    await this.#countFacts();
    await this.#checkPartIds();
    for (const session of [...this.#zombies, this.#here()]) await this.#close(session);
    return this.#broken;
  }

  #drawAgents(): readonly Agent[] {
    const random = this.#random;
    const tools = manyTools(this.#clock);
    const compacting = { window: 1_000, compactAbove: 0.9, keep: 1 + random.below(3) };
    const settings = {
      tools,
      limits: { turns: 6, repeats: 3, seconds: 900 },
      parallel: 1 + random.below(4),
      retry: { attempts: 2, baseMs: 10, capMs: 20 },
      ...(random.chance(0.5) ? { context: compacting } : {}),
      ...(random.chance(0.5) ? { approvalTimeoutMs: 50_000 } : {}),
      ...(random.chance(0.5) ? { instructions: "be kind" } : {}),
    };
    return dialects.map((dialect) =>
      defineAgent({
        ...settings,
        model: randomModel({
          dialect,
          random,
          clock: this.#clock,
          onRequest: (request) => this.#check(request, dialect.protocol),
          tired: () => this.#tired,
        }),
      }),
    );
  }

  /** Up to 60, and mostly short: a short session is quickly lived, and a fault needs few steps. */
  #drawLength(): number {
    return 3 + this.#random.below(this.#random.chance(0.9) ? 10 : 58);
  }

  #count(what: string): void {
    this.#tally.set(what, (this.#tally.get(what) ?? 0) + 1);
  }

  /** What came of it, by its facts. */
  async #countFacts(): Promise<void> {
    for (const fact of await this.#facts()) {
      if (fact.type === "run_finished") this.#count(`run ${fact.outcome}`);
      if (fact.type === "compaction_finished")
        this.#count(fact.summary === undefined ? "compaction in vain" : "compaction");
      if (fact.type === "tool_execution_finished") this.#count(`tool ${fact.status}`);
      if (fact.type === "usage_reported") this.#count("attempt");
    }
  }

  /** No two items share a part id. */
  async #checkPartIds(): Promise<void> {
    const owners = new Map<string, string>();
    for (const fact of await this.#facts()) {
      if (fact.type !== "item_committed" && fact.type !== "item_replaced") continue;
      for (const { id } of fact.item.parts) {
        const owner = owners.get(id) ?? fact.item.id;
        if (owner !== fact.item.id) this.#broken.push(`part ${id} is in two items`);
        owners.set(id, owner);
        this.#count("part");
      }
    }
  }

  async #facts(): Promise<readonly Fact[]> {
    const found = await this.#store.find(this.#here().id);
    return found === undefined ? [] : await this.#store.read(found.uid);
  }

  #check(request: ModelRequest, asked: string): void {
    this.#count("request");
    if (isSummary(request)) this.#count("request for a summary");
    for (const fault of refusedBy(request)) this.#broken.push(`asking ${asked}: ${fault}`);
  }

  /** What a model would be asked if the process ended now and another one went on. */
  #checkNow(): void {
    const options = { compactions: [], outputBytes: () => Infinity };
    const { transcript } = assemble(this.#here().transcript, options);
    if (transcript.length === 0) return;
    this.#count("moment");
    for (const fault of refusedBy({ transcript })) this.#broken.push(`at any moment: ${fault}`);
  }

  #here(): Session {
    if (this.#session === undefined) throw new Error("no session is open");
    return this.#session;
  }

  async #open(): Promise<void> {
    const agent = this.#random.pick(this.#agents);
    // Another process has the same data, but not the same objects.
    const store = { ...this.#store };
    this.#session = await agent.open({
      id: this.#name,
      store,
      log: this.#log,
      clock: this.#clock,
      makeId: this.#makeId,
    });
  }

  /** Closing waits for what is under way, and time stands still: so time is helped. */
  async #close(session: Session): Promise<void> {
    const closing = session.close();
    const closed = watched(closing.then(() => true));
    for (let round = 0; round < 20 && closed() === undefined; round += 1) {
      await rest();
      if (closed() === undefined) this.#clock.pass(6_000);
    }
    await closing;
  }

  async #happen(): Promise<void> {
    const session = this.#here();
    const random = this.#random;
    const draw = random.below(100);
    if (draw < 24) this.#send();
    else if (draw < 30) void session.steer("rather this");
    else if (draw < 35) void session.followUp("and then?");
    else if (draw < 42) this.#abort();
    else if (draw < 45) this.#takeBack();
    else if (draw < 56) this.#decide();
    else if (draw < 63) await this.#answer();
    else if (draw < 73) await this.#crash();
    else if (draw < 76) await this.#fork();
    else this.#clock.pass(random.pick([10, 1_000, 6_000, 16_000, 31_000, 61_000]));
  }

  #send(): void {
    const random = this.#random;
    const limits = random.chance(0.2) ? { turns: 1 + random.below(3) } : undefined;
    const output = random.chance(0.1) ? anyInput : undefined;
    const picture = new Blob([new Uint8Array([137, 80, 78, 71])], { type: "image/png" });
    this.#here().send(random.chance(0.05) ? ["see", picture] : "please", { limits, output });
    this.#count(output === undefined ? "prompt" : "prompt for an answer of a shape");
  }

  #abort(): void {
    const session = this.#here();
    if (this.#random.chance(0.5)) session.abort();
    else session.run?.abort("enough");
    this.#count("abort");
  }

  #takeBack(): void {
    const queued = this.#here().queue;
    if (queued.length > 0) void this.#here().takeBack(this.#random.pick(queued).id);
  }

  #decide(): void {
    const session = this.#here();
    const { approvals } = session;
    if (approvals.length === 0) return;
    const { id } = this.#random.pick(approvals);
    this.#count("decision");
    if (this.#random.chance(0.6)) void session.allow(id);
    else void session.deny(id);
  }

  async #answer(): Promise<void> {
    const facts = await this.#facts();
    const call = facts.findLast(
      (fact) => fact.type === "tool_execution_started" && fact.tool === "locate",
    );
    if (call?.type !== "tool_execution_started") return;
    this.#count("answer");
    void this.#here().answer(call.callId, this.#random.pick([{ city: "Oslo" }, "wrong", null]));
  }

  /** A process ends, or only seems to; another one takes the session up, maybe with another model. */
  async #crash(): Promise<void> {
    if (this.#random.chance(0.5)) {
      this.#zombies.push(this.#here());
      this.#count("crash, and a zombie");
    } else {
      await this.#close(this.#here());
      this.#count("crash");
    }
    await this.#open();
  }

  async #fork(): Promise<void> {
    const session = this.#here();
    const { transcript } = session;
    if (transcript.length === 0) return;
    this.#forks += 1;
    const name = `fork_${this.#forks}`;
    const branch = await session.fork(this.#random.pick(transcript).id, name);
    this.#count("fork");
    this.#zombies.push(session);
    this.#name = name;
    this.#session = branch;
  }

  /** Lets the session settle, checks what is stored, and sends one more prompt. */
  async #end(): Promise<void> {
    await this.#settle();
    this.#checkStored();
    this.#tired = true;
    const run = this.#here().send("go on");
    const result = watched(run.result);
    await this.#settle();
    const outcome = result()?.outcome;
    if (outcome !== "completed") this.#broken.push(`can't be gone on with: ${outcome}`);
    this.#checkStored();
  }

  /** Lets time and people do what they do, until nothing is left to do. */
  async #settle(): Promise<void> {
    const session = this.#here();
    for (let round = 0, idle = 0; round < 200; round += 1) {
      await rest();
      idle = session.status === "idle" ? idle + 1 : 0;
      // A driver may have ended after it had claimed the session for a queued input: another begins its
      // run after a while. A follow-up behind a stopped run stays in the queue.
      if (idle > (session.queue.length === 0 ? 0 : 2)) return;
      this.#decide();
      await this.#answer();
      await rest();
      this.#clock.pass(61_000);
    }
    this.#broken.push(`does not come to rest: ${session.status}`);
  }

  /** Every call has exactly one answer. The store does not order them within their turn. */
  #checkStored(): void {
    for (const { code, itemId, callId } of checkTranscript(this.#here().transcript)) {
      if (code === "out_of_order" || code === "duplicate_call") continue;
      this.#broken.push(`stored: ${code} ${itemId} ${callId ?? ""}`);
    }
  }
}
