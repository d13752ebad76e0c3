import { MillraceError } from "@millrace/core";
import type { FactBody } from "@millrace/core/writing";
import { decide } from "../loop/decide.ts";
import type { Known } from "../loop/known.ts";
import { perform } from "../loop/perform.ts";
import type { LoopHost } from "../loop/perform.ts";
import type { LoopState } from "../loop/state.ts";
import { Fenced } from "../work/host.ts";
import type { WorkHost } from "../work/host.ts";
import { begin } from "./begin.ts";
import { Bell } from "./bell.ts";
import { Claim } from "./claim.ts";
import type { Desk } from "./desk.ts";
import { record } from "./record.ts";
import { toolHostOf } from "./tool-host.ts";
import { TurnMemory } from "./turn-memory.ts";
import { UnderWay } from "./under-way.ts";
import type { Thrown } from "./under-way.ts";

/** Closing waits this long for what is under way to stop. */
const closingMs = 5_000;

/**
 * Performs what `decide` decides, in this process, one decision after the other. What takes long goes
 * on beside it, so that a stop is always noticed. It holds no truth of its own: what it knows beyond
 * the facts may be lost at any moment, and is then found out again.
 */
export class Driver {
  readonly #host: WorkHost;
  readonly #onBroken: (error: unknown) => void;
  readonly #bell = new Bell();
  readonly #memory = new TurnMemory();
  readonly #closing = new AbortController();
  readonly #claim: Claim;
  readonly #underWay: UnderWay;
  readonly #desk: Desk;
  readonly #loop: LoopHost<Promise<void>>;
  readonly #running: Promise<void>;
  /** The head that the latest decision rests on. */
  #decidedAt = 0;
  #broken = false;

  constructor(host: WorkHost, onBroken: (error: unknown) => void) {
    this.#host = host;
    this.#onBroken = onBroken;
    this.#claim = new Claim(host, this.#bell, this.#closing.signal);
    this.#underWay = new UnderWay(
      () => this.#claim.held,
      (thrown, held) => this.#ended(thrown, held),
    );
    const memory = this.#memory;
    this.#desk = {
      host,
      epochs: this.#claim,
      underWay: this.#underWay,
      memory,
      report: (bodies) => this.#report(bodies),
      toolHost: (epoch) =>
        toolHostOf(host, epoch, {
          state: () => this.#state(),
          left: () => !this.#claim.holds(epoch),
          report: (bodies) => this.#report(bodies),
        }),
    };
    const append = (bodies: readonly FactBody[]): Promise<boolean> =>
      this.#append(bodies, this.#decidedAt);
    this.#loop = {
      record: (action, bodies) => record(this.#desk, action, bodies, append),
      begin: (action) => begin(this.#desk, action),
      skip: async () => this.#noProgress(),
    };
    this.#running = this.#run();
  }

  /** Something has changed: decide again. */
  wake(): void {
    this.#bell.ring();
  }

  /** Lets go of everything at once, as a crash would. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#letGo();
    this.wake();
    await this.#running;
    // What ignores its signal is not waited for: it can record nothing any more.
    const done = new AbortController();
    const { clock } = this.#host;
    await Promise.race([this.#underWay.ended(), clock.sleep(closingMs, done.signal)]);
    done.abort(); // a timer that is left would keep the process alive
  }

  get #closed(): boolean {
    return this.#broken || this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        // Noticed before the next write would be refused: whatever is under way costs money.
        if (this.#claim.isSuperseded()) throw new Fenced();
        await this.#step();
      } catch (error) {
        await this.#fail(error);
      }
    }
  }

  async #step(): Promise<void> {
    const { clock, journal } = this.#host;
    this.#decidedAt = journal.state.head;
    const action = decide(this.#state());
    if (action.do === "wait") return await this.#bell.next(clock, action.until);
    if (!(await this.#claim.mayAct(action)))
      return await this.#bell.next(clock, this.#claim.leftAloneUntil);
    const isStill = (): boolean => this.#decidedAt === journal.state.head;
    if ((await this.#claim.hold(isStill)) && isStill())
      await perform(this.#loop, action, () => this.#known());
  }

  /** At the head that was decided on, an action that is over would be decided again and again. */
  #noProgress(): void {
    if (this.#host.journal.state.head !== this.#decidedAt) return;
    throw new MillraceError(
      "broken_port",
      "what is to be done next is done already by the same facts: they do not fit together",
    );
  }

  #state(): LoopState {
    const { journal, agent, clock, allowance, wishes } = this.#host;
    const { standing } = journal;
    const wanted = standing.run !== undefined && wishes(standing.run.runId).output !== undefined;
    return {
      standing,
      settings: agent.settings,
      now: clock.now(),
      doing: {
        ...this.#underWay.doing(),
        ...this.#memory.doing(wanted),
        allowance: allowance?.exhausted(),
      },
    };
  }

  #known(): Known {
    const { standing, state } = this.#host.journal;
    return { standing, state, closes: this.#claim.last(), ...this.#memory.known() };
  }

  /** Stores facts that are true at any head. */
  async #report(bodies: readonly FactBody[]): Promise<void> {
    while (!(await this.#append(bodies, this.#host.journal.state.head)));
  }

  /** Stores facts of the driver's. False: the head has moved, decide again. */
  async #append(bodies: readonly FactBody[], head: number): Promise<boolean> {
    const { store, uid, journal } = this.#host;
    const { incarnation } = this.#claim;
    const answer = await store.append(uid, { incarnation, head, bodies });
    if (answer.outcome === "fenced") throw new Fenced();
    if (answer.outcome === "appended") journal.stored(answer.facts);
    else await journal.catchUp();
    return answer.outcome === "appended";
  }

  async #ended(thrown: Thrown | undefined, held: number | undefined): Promise<void> {
    // That an earlier claim is lost says nothing about the one that is held by now.
    const stale = thrown?.error instanceof Fenced && this.#claim.held !== held;
    if (thrown !== undefined && !stale) await this.#fail(thrown.error);
    this.wake();
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#closed) return;
    this.#letGo();
    try {
      if (!(error instanceof Fenced)) throw error;
      await this.#host.journal.catchUp();
    } catch (broken) {
      // The store or the log is broken: nothing can be recorded, so nothing may be done.
      this.#broken = true;
      this.#onBroken(broken);
    }
    this.wake();
  }

  /** Stops what is under way, and records nothing of it: it is another driver's now. */
  #letGo(): void {
    this.#claim.letGo();
    this.#underWay.stop(new Fenced());
    this.#memory
      .takeHeld()
      ?.drop()
      .catch(() => undefined); // its lane may be another writer's by now
  }
}
