import { packEpoch, unpackEpoch } from "@millrace/core";
import type { Epoch, FactBody, ItemId, Usage } from "@millrace/core";
import type { Assessed } from "../tool/assess.ts";
import type { Action } from "./action.ts";
import { addKnown } from "./advance.ts";
import { Bell } from "./bell.ts";
import { decide } from "./decide.ts";
import { Fenced } from "./host.ts";
import type { Epochs, Host } from "./host.ts";
import { outOf, overspent } from "./limits.ts";
import { perform } from "./perform.ts";
import { answerRollCalls, seekDriver } from "./roll-call.ts";
import type { RollCallOptions } from "./roll-call.ts";
import { doingNothing } from "./state.ts";
import type { LoopState, OutputVerdict, Verdict } from "./state.ts";

/** After this long somebody who lost the race for a session may try again. */
const politeMs = 1_000;
/** A run that another process drives is left alone for this long before it is asked for again. */
const leaveAloneMs = 15_000;
/** Closing waits this long for what is under way to stop. */
const closingMs = 5_000;

/**
 * Performs what `decide` decides, in this process, one decision after the other. What takes long goes
 * on beside it, so that a stop is always heard. It holds no truth of its own: what it knows beyond
 * the facts may be lost at any moment, and is then found out again.
 */
export class Driver {
  readonly host: Host;
  readonly epochs: Epochs;
  /** By the reserved ids of the answers: call ids come again in later turns. */
  readonly assessed: Map<ItemId, Assessed> = new Map();
  readonly #bell = new Bell();
  readonly #onBroken: (error: unknown) => void;
  readonly #calls = new Map<ItemId, AbortController>();
  readonly #works = new Set<Promise<void>>();
  #reply: AbortController | undefined;
  #compaction: AbortController | undefined;
  /** The assessment under way. One that was left behind, by a hook that never answers, is not waited for. */
  #assessing: object | undefined;
  #output: OutputVerdict = { state: "unchecked" };
  /** The tools that the model was offered in this turn, if it was asked by this driver. */
  #offered: ReadonlySet<string> | undefined;
  /** The incarnation that this driver claimed, while it holds it. */
  #held: number | undefined;
  #generation = 0;
  /** The head that the latest decision rests on. */
  #decidedAt = 0;
  /** Until then a run that another began is left alone. Never asked: it is asked at once. */
  #leftAloneUntil: number | undefined;
  #answersRollCalls = false;
  readonly #closing = new AbortController();
  #closed = false;
  #running: Promise<void>;

  constructor(host: Host, onBroken: (error: unknown) => void) {
    this.host = host;
    this.#onBroken = onBroken;
    this.epochs = { next: () => this.#nextEpoch(), last: () => this.#lastEpoch() };
    this.#running = this.#run();
  }

  /** Something has changed: look again. */
  wake(): void {
    this.#bell.ring();
  }

  /** Lets go of everything at once, as a crash would. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.abort();
    this.#letGo();
    this.wake();
    await this.#running;
    // What ignores its signal is not waited for: it can record nothing any more.
    const done = new AbortController();
    await Promise.race([Promise.all(this.#works), this.host.clock.sleep(closingMs, done.signal)]);
    done.abort(); // a timer that is left would keep the process alive
  }

  state(): LoopState {
    const { journal, agent, clock, allowance, wishes } = this.host;
    const { standing } = journal;
    const verdicts = new Map<ItemId, Verdict>();
    for (const [itemId, { verdict }] of this.assessed) verdicts.set(itemId, verdict);
    const wanted = standing.run !== undefined && wishes(standing.run.runId).output !== undefined;
    return {
      standing,
      settings: agent.settings,
      now: clock.now(),
      doing: {
        ...doingNothing,
        reply: this.#reply !== undefined,
        compaction: this.#compaction !== undefined,
        assessing: this.#assessing !== undefined,
        calls: new Set(this.#calls.keys()),
        interrupted: this.#interrupted(),
        verdicts,
        output: wanted ? this.#output : { state: "valid" },
        allowance: allowance?.exhausted(),
      },
    };
  }

  /** Stores facts of the driver's at the head it decided on. False: the head has moved, decide again. */
  async record(bodies: readonly FactBody[]): Promise<boolean> {
    return await this.#append(bodies, this.#decidedAt);
  }

  /** Stores facts that are true at any head. */
  async report(bodies: readonly FactBody[]): Promise<void> {
    while (!(await this.#append(bodies, this.host.journal.state.head)));
  }

  async #append(bodies: readonly FactBody[], head: number): Promise<boolean> {
    const { store, uid, journal } = this.host;
    const incarnation = this.#holding();
    const answer = await store.append(uid, { incarnation, head, bodies });
    if (answer.outcome === "fenced") throw new Fenced();
    if (answer.outcome === "appended") journal.stored(answer.facts);
    else await journal.catchUp();
    return answer.outcome === "appended";
  }

  beginReply(work: (signal: AbortSignal) => Promise<void>): void {
    this.#reply = this.#begin(work, () => (this.#reply = undefined));
  }

  beginCompaction(work: (signal: AbortSignal) => Promise<void>): void {
    this.#compaction = this.#begin(work, () => (this.#compaction = undefined));
  }

  beginCall(itemId: ItemId, work: (signal: AbortSignal) => Promise<void>): void {
    const begun = this.#begin(work, () => this.#calls.delete(itemId));
    this.#calls.set(itemId, begun);
  }

  beginAssessing(work: () => Promise<void>): void {
    const assessing = {};
    this.#assessing = assessing;
    this.#begin(work, () => {
      if (this.#assessing === assessing) this.#assessing = undefined;
    });
  }

  interrupt(): void {
    for (const work of this.#underWay()) work.abort();
    this.wake();
  }

  /** What was found out about a turn is of no use for the next one. */
  forget(): void {
    this.assessed.clear();
    this.#assessing = undefined;
    this.#offered = undefined;
    this.#output = { state: "unchecked" };
  }

  offer(names: readonly string[]): void {
    this.#offered = new Set(names);
  }

  offered(): ReadonlySet<string> | undefined {
    return this.#offered;
  }

  setOutput(verdict: OutputVerdict): void {
    this.#output = verdict;
  }

  /** The limit that forbids another request to a model once that much more is used, if one does. */
  overspent(used: Usage): string | undefined {
    const state = this.state();
    const { run } = state.standing;
    if (run === undefined) return undefined;
    return overspent(state, { ...run, used: addKnown(run.used, used) });
  }

  /** Whether what was begun under this epoch is still this driver's to end. */
  holds(epoch: Epoch): boolean {
    return unpackEpoch(epoch).incarnation === this.#held;
  }

  /** The same for whoever spends from this run's budget: its time counts too. */
  exhausted(): string | undefined {
    const state = this.state();
    const { run } = state.standing;
    if (run === undefined || run.aborting) return "parent";
    return outOf(state, run) ?? overspent(state, run);
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        // Found out before the next write would be refused: whatever is under way costs money.
        if (this.#isSuperseded()) throw new Fenced();
        this.#decidedAt = this.host.journal.state.head;
        const action = decide(this.state());
        const { clock } = this.host;
        if (action.do === "wait") await this.#bell.next(clock, action.until);
        else if (!(await this.#mayAct(action))) await this.#bell.next(clock, this.#leftAloneUntil);
        else if ((await this.#hold()) && this.#isStill()) await perform(this, action);
      } catch (error) {
        await this.#fail(error);
      }
    }
  }

  #isSuperseded(): boolean {
    return this.#held !== undefined && this.host.journal.standing.incarnation > this.#held;
  }

  /** Whether what was decided rests on all that is known by now. */
  #isStill(): boolean {
    return this.#decidedAt === this.host.journal.state.head;
  }

  /**
   * A run that nobody has begun is for whoever comes first. One that is on belongs to its driver, and
   * to whoever finds that one silent. Where nobody can be asked, it is taken over once, at opening.
   */
  async #mayAct(action: Action): Promise<boolean> {
    if (this.#held !== undefined || (action.do === "begin_turn" && action.startsRun)) return true;
    const { clock, journal } = this.host;
    const until = this.#leftAloneUntil;
    if (until !== undefined && clock.now() < until) return false;
    const found = await seekDriver(this.#rollCall(), journal.standing.incarnation);
    if (this.#closed) return false;
    if (found === "silent" || (found === "unknown" && until === undefined)) return true;
    this.#leftAloneUntil = clock.now() + leaveAloneMs;
    return false;
  }

  /** From the first claim on. Where the log takes no subscription, others find this driver silent. */
  async #answerRollCalls(): Promise<void> {
    if (this.#answersRollCalls) return;
    this.#answersRollCalls = true;
    await answerRollCalls(this.#rollCall(), () => this.#held).catch(() => undefined);
    this.#answersRollCalls = false;
  }

  #rollCall(): RollCallOptions {
    const { log, clock, uid } = this.host;
    return { log, clock, uid, signal: this.#closing.signal };
  }

  /** Claims the session if this driver does not hold it. False: somebody else was first. */
  async #hold(): Promise<boolean> {
    const { store, uid, journal, clock } = this.host;
    if (this.#held !== undefined) return true;
    await journal.catchUp();
    if (!this.#isStill()) return false;
    this.#leftAloneUntil = clock.now() + leaveAloneMs;
    const from = journal.standing.incarnation;
    const answer = await store.claim(uid, { from });
    if (answer.outcome === "claimed") {
      this.#held = answer.incarnation;
      this.#generation = 0;
      void this.#answerRollCalls();
      journal.stored(answer.facts);
      return false; // the claim is a fact: decide anew
    }
    await journal.catchUp();
    await this.#bell.next(clock, clock.now() + politeMs);
    return false;
  }

  #begin(work: (signal: AbortSignal) => Promise<void>, end: () => unknown): AbortController {
    const stop = new AbortController();
    const held = this.#held;
    const ended = async (): Promise<void> => {
      try {
        await work(stop.signal);
      } catch (error) {
        // That an earlier claim is lost says nothing about the one that is held by now.
        if (!(error instanceof Fenced) || this.#held === held) await this.#fail(error);
      } finally {
        end();
        this.wake();
      }
    };
    const working = ended();
    this.#works.add(working);
    void working.then(() => this.#works.delete(working));
    return stop;
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#closed) return;
    this.#letGo();
    try {
      if (!(error instanceof Fenced)) throw error;
      await this.host.journal.catchUp();
    } catch (broken) {
      // The store or the log is broken: nothing can be recorded, so nothing may be done.
      this.#closed = true;
      this.#onBroken(broken);
    }
    this.wake();
  }

  /** Stops what is under way, and records nothing of it: it is another's now. */
  #letGo(): void {
    this.#held = undefined;
    for (const work of this.#underWay()) work.abort(new Fenced());
  }

  #underWay(): readonly AbortController[] {
    const all = [this.#reply, this.#compaction, ...this.#calls.values()];
    return all.filter((work) => work !== undefined);
  }

  #interrupted(): boolean {
    const all = this.#underWay();
    return all.length > 0 && all.every((work) => work.signal.aborted);
  }

  #holding(): number {
    if (this.#held === undefined) throw new Fenced();
    return this.#held;
  }

  #nextEpoch(): Epoch {
    const incarnation = this.#holding();
    this.#generation += 1;
    return packEpoch({ incarnation, generation: this.#generation, attempt: 0 });
  }

  #lastEpoch(): Epoch {
    const incarnation = this.#holding();
    const next = packEpoch({ incarnation, generation: this.#generation + 1, attempt: 0 });
    return next - 1;
  }
}
