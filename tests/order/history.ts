import { isDeepStrictEqual } from "node:util";
import { emptyState, replay, restore, snapshot } from "@millrace/core/reading";
import { inputId, partId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { PeopleFact } from "@millrace/core/ports";
import { Driver } from "./driver.ts";
import { memoryEngines } from "./engines.ts";
import type { Engines, Node } from "./engines.ts";
import { StepHub } from "./hub.ts";
import type { Hub } from "./hub.ts";
import { Session } from "./session.ts";
import type { FaultKind, Setting } from "./setting.ts";
import { describeState, Viewer } from "./viewer.ts";
import { promise } from "./violation.ts";
import { Writer } from "./writer.ts";
import type { Job } from "./writer.ts";

/** Makes the hub under test. */
export type MakeHub = (session: Session, node: Node) => Hub;

/** What a history is played on, if not in memory with hubs that go in steps. */
export interface Stage {
  readonly makeHub?: MakeHub | undefined;
  readonly engines?: Engines | undefined;
}

/** All actors of one session, and the faults that are left. */
export class History {
  readonly session: Session;
  readonly setting: Setting;
  readonly drivers: Driver[] = [];
  readonly writers: Writer[] = [];
  readonly hubs: Hub[] = [];
  readonly viewers: Viewer[];
  readonly left: Partial<Record<FaultKind, number>>;
  faults: number;
  readonly #makeHub: MakeHub;
  #inputs = 0;

  private constructor(session: Session, makeHub: MakeHub) {
    const { setting } = session;
    this.session = session;
    this.setting = setting;
    this.#makeHub = makeHub;
    this.faults = setting.faults;
    this.left = { ...setting.left };
    this.viewers = Array.from({ length: setting.viewers }, () => new Viewer(session));
    for (let at = 0; at < setting.hubs; at += 1) this.hubs.push(this.#hub(at));
  }

  /** A session with one input and its first driver. */
  static async begin(setting: Setting, stage: Stage = {}): Promise<History> {
    const { engines = memoryEngines(), makeHub = stepHub } = stage;
    const history = new History(await Session.open(setting, engines), makeHub);
    await history.say();
    await history.claim();
    await history.session.look();
    if (setting.joined === true) {
      for (const hub of history.hubs) for (let at = 0; at < 3; at += 1) await hub.join();
      for (const at of history.viewers.keys()) await history.connect(at, 0);
      for (const viewer of history.viewers) viewer.take(Infinity);
    }
    await history.session.settle();
    return history;
  }

  async close(): Promise<void> {
    for (const viewer of this.viewers) viewer.leave();
    for (const hub of this.hubs) await hub.leave();
    await this.session.close();
  }

  get driver(): Driver {
    return this.drivers.at(-1) as Driver; // `begin` claims before the first call
  }

  async say(): Promise<void> {
    this.#inputs += 1;
    const id = inputId(`in${this.#inputs}`);
    const input = {
      kind: "prompt",
      parts: [{ kind: "text", id: partId("p"), text: id }],
    } as const;
    await this.#accept(id, { type: "input_accepted", inputId: id, input });
  }

  async abort(): Promise<void> {
    this.#inputs += 1;
    const id = inputId(`in${this.#inputs}`);
    await this.#accept(id, { type: "input_accepted", inputId: id, input: { kind: "abort" } });
  }

  /** Its answer is lost the first time, so it is sent again. */
  async #accept(key: string, body: PeopleFact): Promise<void> {
    const { uid } = this.session;
    const node = this.session.node(this.#inputs);
    const first = await node.store.accept(uid, key, body);
    promise(first.outcome === "accepted", () => `the input ${key} is ${first.outcome}`);
    await this.session.announce(first.facts, node);
    const elsewhere = this.session.node(this.#inputs + 1);
    const again = await elsewhere.store.accept(uid, key, body);
    promise(again.outcome === "duplicate", () => `the input ${key} sent again is ${again.outcome}`);
  }

  async claim(to?: number): Promise<void> {
    const { uid, truths } = this.session;
    const { incarnation } = truths.now;
    const node = this.session.node(incarnation + 1);
    const answer = await node.store.claim(uid, { from: incarnation, to });
    promise(answer.outcome === "claimed", () => `a claim from ${incarnation} is refused`);
    await this.session.announce(answer.facts, node);
    await this.session.look();
    this.drivers.push(new Driver(this.session, answer.incarnation));
  }

  /** A driver claims from what it read before the last claim. */
  async claimLate(): Promise<void> {
    const { uid, truths } = this.session;
    const from = truths.now.incarnation - 1;
    const answer = await this.session.node(from).store.claim(uid, { from });
    promise(answer.outcome === "moved", () => `a claim from ${from}, which is over, is taken`);
  }

  start(job: Job): void {
    this.writers.push(new Writer(this.session, job, this.writers.length));
  }

  again(writer: Writer): void {
    this.start({ ...writer.job, attempt: writer.job.attempt + 1 });
  }

  /** True if no later attempt at the same start is there, and its driver holds the session. */
  isNewest({ job, givenUp }: Writer): boolean {
    const { driver } = this;
    if (givenUp || !driver.alive || driver.incarnation !== job.incarnation) return false;
    return this.writers.every(
      (other) =>
        other.job.item !== job.item ||
        other.job.incarnation !== job.incarnation ||
        other.job.generation !== job.generation ||
        other.job.attempt <= job.attempt,
    );
  }

  async connect(viewer: number, hub: number): Promise<void> {
    const watching = this.viewers[viewer];
    const at = this.hubs[hub];
    if (watching === undefined || at === undefined) return;
    await watching.connect(hub, at);
  }

  /** A hub's process dies, and another takes its place. */
  async crashHub(at: number): Promise<void> {
    for (const viewer of this.viewers) if (viewer.hub === at) viewer.leave();
    await this.hubs[at]?.leave();
    this.hubs[at] = this.#hub(at);
  }

  /** A fail-over loses the last batch of a lane, and announces the one before it again. */
  async loseLast(lane: number): Promise<void> {
    const node = this.session.node(0);
    const held = await node.log.read(this.session.uid, lane);
    await this.session.lose(lane);
    for (const batch of held.slice(0, -1)) await this.session.send(batch, node);
  }

  /** A process that is not the lane's writer writes in it. */
  async meddle(writer: Writer): Promise<void> {
    const { sessionId } = this.session;
    const { epoch, head, job } = writer;
    const first = writer.texts.length;
    const { runId, turnId, itemId } = writer.ids();
    const events = [{ type: "stalled", silentMs: 1 } as const];
    const ids = { v: 1, sessionId, runId, turnId, itemId, lane: job.lane, epoch } as const;
    const batch = { ...ids, head, time: 0, first, last: first, events };
    await this.session.send(batch, this.session.node(0));
  }

  /** Nothing is left to happen: all that was promised has come true. */
  async finish(): Promise<void> {
    if (this.setting.pause === true) this.#checkLive();
    else this.#checkDone();
    const { uid, sessionId, truths } = this.session;
    const facts = await this.session.node(1).store.read(uid);
    promise(
      facts.length === truths.facts.length &&
        facts.every((fact, at) => isSame(fact, truths.facts[at])),
      () => "what was stored is no longer what it was",
    );
    const whole = replay(emptyState(uid, sessionId), facts);
    const expected = describeState(whole);
    for (const [at, { state, hub }] of this.viewers.entries()) {
      promise(hub !== undefined, () => `viewer ${at} can't connect`);
      promise(state.head === whole.head, () => `viewer ${at} stays at ${state.head}`);
      const bare = this.setting.pause === true ? { ...state, lanes: [] } : state;
      const mine = describeState(bare);
      promise(mine === expected, () => `viewer ${at} ends in another state than the store`);
      promise(
        describeState(restore(snapshot(state))) === (bare === state ? mine : describeState(state)),
        () => `the state of viewer ${at} does not survive its snapshot`,
      );
    }
  }

  #checkDone(): void {
    const { truths } = this.session;
    const { run, queue, items, inputs, executions } = truths.now;
    promise(run === undefined, () => `run ${run} never finishes`);
    promise(queue.length === 0, () => `the input ${queue[0]} is never taken up`);
    const prompts = items.filter(({ author }) => author === "user");
    const accepted = truths.facts.filter(isPrompt).length;
    promise(
      inputs === accepted && prompts.length === accepted,
      () => `of ${accepted} inputs ${prompts.length} are items`,
    );
    const answered = new Set<string>(items.map(({ id }) => id));
    for (const item of items) {
      for (const part of item.parts) {
        if (part.kind !== "tool_call") continue;
        promise(answered.has(part.callId), () => `the call ${part.callId} has no result`);
      }
    }
    promise(executions.length === 0, () => `the call ${executions[0]} is never settled`);
    for (const [at, { state }] of this.viewers.entries()) {
      promise(state.lanes.length === 0, () => `viewer ${at} is left with a draft`);
    }
  }

  /** Every viewer shows all that a silent writer has written, if it holds its lane. */
  #checkLive(): void {
    for (const writer of this.writers) {
      const { lane } = writer.job;
      const holds = writer.phase === "run" && this.isNewest(writer);
      if (!holds || this.session.opened.get(lane) !== writer.epoch) continue;
      for (const [at, { state }] of this.viewers.entries()) {
        const shown = state.lanes.find((open) => open.lane === lane);
        promise(
          shown?.epoch === writer.epoch && writer.texts[shown.seq] === writer.texts.at(-1),
          () => `viewer ${at} does not see all that ${writer.itemId} has so far`,
        );
      }
    }
  }

  #hub(at: number): Hub {
    return this.#makeHub(this.session, this.session.node(at));
  }
}

function stepHub(session: Session, node: Node): Hub {
  return new StepHub(session, node);
}

function isSame(fact: Fact, other: Fact | undefined): boolean {
  return fact === other || isDeepStrictEqual(fact, other);
}

function isPrompt(fact: Fact): boolean {
  return fact.type === "input_accepted" && fact.input.kind !== "abort";
}
