import { unpackEpoch } from "@millrace/core/ports";
import type { Epoch } from "@millrace/core/ports";
import { emptyState, follow, replay, snapshot } from "@millrace/core/reading";
import { runId, sessionId, turnId } from "@millrace/core/writing";
import type { Fact } from "@millrace/core";
import type { FactBody, FactOf } from "@millrace/core/writing";
import { systemClock } from "@millrace/core/memory";
import type { Hub } from "@millrace/server/hub";
import { pollMs } from "./viewer-group.ts";
import type { Node } from "./viewer-group.ts";
import { Attempt, countEpochs, reservedId } from "./attempt.ts";
import type { Contested } from "./attempt.ts";
import { Effects } from "./effects.ts";
import { Schedule } from "./schedule.ts";
import type { Random } from "./schedule.ts";
import { CheckingViewer } from "./checking-viewer.ts";

/** The processes of all contests: each has connections of its own. */
export interface Parties {
  readonly writers: readonly [Node, Node, ...Node[]];
  readonly follower: Pick<Node, "store" | "log">;
  readonly hubs: readonly [Hub, Hub];
}

export interface Outcome {
  /** Attempts that opened a lane while the one before believed to hold it, both writing from then on. */
  overlaps: number;
  /** The same, for each one of the older attempts. */
  pairs: number;
  attempts: number;
  /** Calls that were refused because another holds the lane or the session. */
  fences: number;
  items: number;
  messages: number;
}

const run = runId("run_1");
const turnsAtMost = 4;

/** One session in which writers supersede each other, all by chance, and what all must see of it. */
export class Contest {
  readonly #parties: Parties;
  readonly #session: Contested;
  readonly #schedule: Schedule;
  readonly #effects = new Effects();
  readonly #attempts: Attempt[] = [];
  readonly #viewers: CheckingViewer[] = [];

  private constructor(parties: Parties, session: Omit<Contested, "effects">) {
    this.#parties = parties;
    this.#session = { ...session, effects: this.#effects };
    this.#schedule = session.schedule;
  }

  /** Plays a whole session. Throws at the first thing that must not be. */
  static async play(parties: Parties, name: string, random: Random): Promise<Outcome> {
    const id = sessionId(name);
    const { uid } = await parties.writers[0].store.create({ sessionId: id });
    const contest = new Contest(parties, {
      uid,
      sessionId: id,
      runId: run,
      schedule: new Schedule(random),
      nextEpoch: countEpochs(random),
      texts: new Map<Epoch, string>(),
    });
    try {
      return await contest.#play();
    } finally {
      await Promise.all(contest.#viewers.map((viewer) => viewer.leave()));
    }
  }

  async #play(): Promise<Outcome> {
    const { store } = this.#parties.writers[0];
    const claim = await store.claim(this.#session.uid, { from: 0 });
    this.#effects.incarnation = claim.incarnation;
    await this.#watch("from the start, by a hub", this.#parties.hubs[0]);
    await this.#watch("from the start, by itself", undefined);
    await this.#say(() => [{ type: "run_started", runId: run }]);
    const turns = this.#schedule.between(2, turnsAtMost);
    for (let turn = 1; turn <= turns; turn += 1) await this.#playTurn(turn);
    await this.#say((closes) => [
      { type: "run_finished", runId: run, closes, outcome: "completed" },
    ]);
    const facts = await store.read(this.#session.uid);
    // A call that was held all the time is let go now, when all is over.
    this.#schedule.thaw(1);
    await this.#schedule.play();
    await this.#watch("from the end, by another hub", this.#parties.hubs[1]);
    return await this.#check(facts);
  }

  async #playTurn(turn: number): Promise<void> {
    const turnOf = turnId(`turn_${turn}`);
    await this.#say(() => [{ type: "turn_started", runId: run, turnId: turnOf }]);
    this.#schedule.thaw(0.5);
    const lanes = this.#schedule.chance(0.3) ? [0, 1] : [this.#schedule.between(0, 2)];
    for (const lane of lanes) this.#contend(turn, lane);
    if (this.#schedule.chance(0.3)) {
      const hub = this.#schedule.chance(0.5) ? this.#parties.hubs[1] : undefined;
      this.#schedule.begin(async () => {
        await this.#schedule.pass();
        await this.#watch(`from the middle of turn ${turn}`, hub);
      });
    }
    await this.#schedule.play();
    for (const lane of lanes) await this.#finish(turn, lane);
    const finished = { type: "turn_finished", runId: run, turnId: turnOf, stop: "end" } as const;
    await this.#say((closes) => [{ ...finished, closes }]);
  }

  /** Starts several attempts at one item, here and there. */
  #contend(turn: number, lane: number): void {
    const { writers } = this.#parties;
    const count = this.#schedule.between(2, 4);
    for (let at = 0; at < count; at += 1) {
      const attempt = new Attempt({
        session: this.#session,
        ports: writers[at % writers.length] ?? writers[0],
        turnId: turnId(`turn_${turn}`),
        itemId: reservedId(turn, lane),
        lane,
        claims: this.#schedule.chance(0.5),
      });
      this.#attempts.push(attempt);
      this.#schedule.begin(() => attempt.run());
    }
  }

  /** An item that all attempts left is finished by one more, which is not disturbed. */
  async #finish(turn: number, lane: number): Promise<void> {
    const id = reservedId(turn, lane);
    if (this.#effects.committed.has(id)) return;
    const last = new Attempt({
      session: this.#session,
      ports: this.#parties.writers[1],
      turnId: turnId(`turn_${turn}`),
      itemId: id,
      lane,
      claims: true,
      atOnce: true,
    });
    this.#attempts.push(last);
    this.#schedule.begin(() => last.run());
    await this.#schedule.play();
    if (!this.#effects.committed.has(id)) throw new Error(`nobody could store ${id}`);
  }

  /** The session's driver appends a fact, at any head. */
  async #say(bodies: (closes: Epoch) => readonly FactBody[]): Promise<void> {
    const { uid, nextEpoch } = this.#session;
    const { store, log } = this.#parties.writers[0];
    const { incarnation } = this.#effects;
    const said = bodies(nextEpoch(incarnation));
    for (let left = 10; left > 0; left -= 1) {
      const head = await store.head(uid);
      const answer = await store.append(uid, { incarnation, head, bodies: said });
      if (answer.outcome === "appended") {
        for (const fact of answer.facts) await log.announce(uid, fact);
        return;
      }
      if (answer.outcome === "fenced") throw new Error(`${incarnation} holds the session no more`);
    }
    throw new Error("the head always moves");
  }

  async #watch(name: string, hub: Hub | undefined): Promise<void> {
    const { uid, sessionId, texts } = this.#session;
    const { store, log } = this.#parties.follower;
    const ports = { store, log, clock: systemClock, pollMs };
    const viewer = new CheckingViewer({
      name,
      uid,
      sessionId,
      wholeText: (_, epoch) => texts.get(epoch) ?? "",
      watch: (cursor, signal) =>
        hub === undefined
          ? follow({ ...ports, uid, sessionId, cursor, signal })
          : hub.watch({ uid, sessionId, cursor, signal }),
    });
    this.#viewers.push(viewer);
    await this.#schedule.fly(() => viewer.joined());
  }

  async #check(before: readonly Fact[]): Promise<Outcome> {
    const { uid, sessionId } = this.#session;
    const { store } = this.#parties.writers[0];
    const facts = await store.read(uid);
    const { faults } = this.#effects;
    for (const fact of facts.slice(before.length)) {
      // The holder itself may still report its usage.
      const late = fact.type === "usage_reported" ? unpackEpoch(fact.epoch ?? 0).incarnation : 0;
      if (late !== this.#effects.incarnation) faults.push(`${fact.type} was stored after the end`);
    }
    if (facts.some(({ n }, at) => n !== at + 1)) faults.push("the numbers are not dense");
    const verdict = await store.verify(sessionId);
    if (!verdict.ok) faults.push(`the store is damaged: ${verdict.message}`);
    this.#checkItems(facts);
    await this.#checkScreens(facts);
    if (faults.length > 0) throw new Error(faults.join("\n"));
    return this.#count();
  }

  /**
   * One item for each reserved id, with all text of its attempt, stored by the attempt that got
   * "committed".
   */
  #checkItems(facts: readonly Fact[]): void {
    const { faults, committed } = this.#effects;
    const items = facts.filter(
      (fact): fact is FactOf<"item_committed"> => fact.type === "item_committed",
    );
    if (new Set(items.map(({ item }) => item.id)).size !== committed.size)
      faults.push("there are items that nobody stored");
    if (items.length !== committed.size)
      faults.push(`${committed.size} items are stored ${items.length} times`);
    for (const { item, epoch = 0 } of items) {
      const text = item.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
      if (committed.get(item.id) !== epoch) faults.push(`${item.id} is of ${epoch}`);
      if (text !== this.#session.texts.get(epoch))
        faults.push(`${item.id} of ${epoch} is "${text}"`);
    }
  }

  async #checkScreens(facts: readonly Fact[]): Promise<void> {
    const { uid, sessionId } = this.#session;
    const { faults } = this.#effects;
    const truth = JSON.stringify(snapshot(replay(emptyState(uid, sessionId), facts)));
    for (const viewer of this.#viewers) {
      await viewer.until(() => viewer.state.head === facts.length, `has ${facts.length} facts`);
      faults.push(...viewer.faults);
      const seen = JSON.stringify(snapshot(viewer.state));
      if (seen !== truth) faults.push(`a screen has\n${seen}\nthe store has\n${truth}`);
    }
  }

  #count(): Outcome {
    const outcome = { overlaps: 0, pairs: 0, attempts: 0, fences: 0, items: 0, messages: 0 };
    for (const attempt of this.#attempts) {
      const same = this.#attempts.filter(
        ({ options }) => options.itemId === attempt.options.itemId,
      );
      const pairs = same.filter((older) => attempt.overlaps(older)).length;
      outcome.pairs += pairs;
      outcome.overlaps += pairs > 0 ? 1 : 0;
      outcome.attempts += 1;
      outcome.fences += attempt.fences;
    }
    outcome.items = this.#effects.committed.size;
    outcome.messages = this.#viewers.reduce((sum, { received }) => sum + received.length, 0);
    return outcome;
  }
}
