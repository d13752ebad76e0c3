import { MillraceError } from "@millrace/core";
import type { ItemId } from "@millrace/core";
import type { DriverRequest } from "@millrace/core/ports";
import type { FactBody } from "@millrace/core/writing";
import { endingAhead } from "../loop/ahead.ts";
import { decide } from "../loop/decide.ts";
import type { Known } from "../loop/known.ts";
import { perform } from "../loop/perform.ts";
import type { LoopHost } from "../loop/perform.ts";
import type { LoopState } from "../loop/state.ts";
import { Fenced } from "../work/host.ts";
import type { WorkHost } from "../work/host.ts";
import { append } from "./append.ts";
import { begin } from "./begin.ts";
import { WakeSignal } from "./wake-signal.ts";
import { Claim } from "./claim.ts";
import type { DriveContext } from "./drive-context.ts";
import { record } from "./record.ts";
import { toolHostOf } from "./tool-host.ts";
import { TurnMemory } from "./turn-memory.ts";
import { UnderWay } from "./under-way.ts";
import type { Thrown } from "./under-way.ts";

/** How long `close` waits for work in progress to stop. */
const closingMs = 5_000;

/**
 * Runs the loop of one session in this process: decide, claim the session if needed, perform, repeat.
 * Long work (a reply, a tool, a compaction) runs beside the loop, so that the loop always reacts to a
 * stop. All durable state is in the store. What the driver remembers besides (`TurnMemory`) may be lost
 * in a crash; the next driver computes it again.
 *
 * One `Driver` exists for each open session that drives. It starts in the constructor and ends with
 * `close`, or when a port breaks its contract: then `onBroken` gets the error. A store that is away is
 * waited for inside its calls, see `patientStore`: work goes on, and what it has made is stored later.
 */
export class Driver {
  readonly #host: WorkHost;
  readonly #onBroken: (error: unknown) => void;
  readonly #signal = new WakeSignal();
  readonly #memory = new TurnMemory();
  readonly #closing = new AbortController();
  readonly #claim: Claim;
  readonly #underWay: UnderWay;
  readonly #drive: DriveContext;
  readonly #loop: LoopHost<Promise<void>>;
  readonly #running: Promise<void>;
  /** The head of the session when the latest decision was made. Facts are appended at this head only. */
  #decidedAt = 0;
  #broken = false;

  constructor(host: WorkHost, onBroken: (error: unknown) => void) {
    this.#host = host;
    this.#onBroken = onBroken;
    this.#claim = new Claim(host, () => this.wake(), this.#closing.signal);
    this.#underWay = new UnderWay(
      () => this.#claim.held,
      (thrown, held) => this.#ended(thrown, held),
    );
    const memory = this.#memory;
    this.#drive = {
      host,
      epochs: this.#claim,
      underWay: this.#underWay,
      memory,
      opensReplies: true,
      report: (bodies) => this.#report(bodies),
      ahead: (done) => (bodies) => this.#ahead(done, bodies),
      toolHost: (epoch) =>
        toolHostOf(host, epoch, {
          state: () => this.#state(),
          left: () => !this.#claim.holds(epoch),
          closing: this.#closing.signal,
          report: (bodies) => this.#report(bodies),
        }),
    };
    const appendHere = (
      bodies: readonly FactBody[],
      opens?: DriverRequest["opens"],
    ): Promise<boolean> => this.#append(bodies, this.#decidedAt, opens);
    this.#loop = {
      record: (action, bodies) => record(this.#drive, action, bodies, appendHere),
      begin: (action) => begin(this.#drive, action),
      skip: async () => this.#noProgress(),
    };
    this.#running = this.#run();
  }

  /** Makes the loop decide again. To be called after every change of the session. */
  wake(): void {
    this.#signal.wake();
  }

  /**
   * Stops work in progress and gives up the claim. A run in progress keeps the facts that a crash would
   * leave, and gets a `session_released` fact with the reason. The next driver continues it. Waits up to
   * 5 s each for the loop, for work to stop and for that fact.
   */
  async close(): Promise<void> {
    let { held } = this.#claim;
    this.#closing.abort();
    this.#stopWork();
    this.wake();
    await this.#atMost(this.#running); // a call to a store that hangs may be in it
    held ??= this.#claim.held; // a claim that was under way has been granted meanwhile
    // Work that ignores its signal is not waited for: it can no longer record anything.
    await this.#atMost(this.#underWay.ended());
    if (held !== undefined && !this.#broken)
      await this.#atMost(this.#recordRelease(held).catch(() => undefined));
    await this.#claim.close();
  }

  /** Waits for a step of closing, for 5 s at most. */
  async #atMost(ending: Promise<void>): Promise<void> {
    const done = new AbortController();
    await Promise.race([ending, this.#host.clock.sleep(closingMs, done.signal)]);
    done.abort(); // a pending timer would keep the process alive
  }

  /** Stored last, after all other facts of this driver. If the store fails, the session looks crashed. */
  async #recordRelease(incarnation: number): Promise<void> {
    const { store, uid, journal } = this.#host;
    for (;;) {
      await journal.catchUp();
      const { run } = journal.standing;
      if (run === undefined || journal.standing.incarnation !== incarnation) return;
      const { runId } = run;
      const released = {
        type: "session_released",
        incarnation,
        runId,
        reason: "shutdown",
      } as const;
      const { head } = journal.state;
      const answer = await store.append(uid, { incarnation, head, bodies: [released] });
      if (answer.outcome === "appended") journal.stored(answer.facts);
      if (answer.outcome !== "moved") return;
    }
  }

  get #closed(): boolean {
    return this.#broken || this.#closing.signal.aborted;
  }

  async #run(): Promise<void> {
    while (!this.#closed) {
      try {
        // Checked before each step, not only when the store refuses a write: work in progress costs money.
        if (this.#claim.isSuperseded()) throw new Fenced();
        await this.#step();
      } catch (error) {
        await this.#fail(error);
      }
    }
  }

  async #step(): Promise<void> {
    const { clock, journal, store } = this.#host;
    this.#decidedAt = journal.state.head;
    const action = decide(this.#state());
    this.#claim.showLife(action);
    if (action.do === "wait") {
      const { until } = action;
      const ms = until === undefined ? undefined : until - store.now();
      return await this.#signal.sleep(clock, ms);
    }
    if (!(await this.#claim.mayAct(action))) return await this.#signal.sleep(clock);
    const isCurrent = (): boolean => this.#decidedAt === journal.state.head;
    if ((await this.#claim.hold(isCurrent)) && isCurrent())
      await perform(this.#loop, action, () => this.#known());
  }

  /** An action that is already done would be decided for ever if the head has not moved. That is a broken port. */
  #noProgress(): void {
    if (this.#host.journal.state.head !== this.#decidedAt) return;
    throw new MillraceError(
      "broken_port",
      "the facts call for an action that the same facts show as done: the store or the log returned facts that do not fit together",
    );
  }

  #state(): LoopState {
    const { journal, agent, store, clock, allowance, runOptions } = this.#host;
    const { standing } = journal;
    const now = store.now();
    const wanted =
      standing.run !== undefined && runOptions(standing.run.runId).output !== undefined;
    return {
      standing,
      settings: agent.settings,
      now,
      doing: {
        ...this.#underWay.doing(),
        ...this.#memory.doing(wanted, { now, monotonic: clock.monotonic() }),
        allowance: allowance?.exhausted(),
      },
    };
  }

  #known(): Known {
    const { standing, state } = this.#host.journal;
    return { standing, state, closes: this.#claim.last(), ...this.#memory.known() };
  }

  /** What `decide` will want once the work that is named is done and its facts are stored. */
  #ahead(
    done: { readonly reply: true } | { readonly call: ItemId },
    bodies: readonly FactBody[],
  ): readonly FactBody[] {
    const state = this.#state();
    const calls = new Set(state.doing.calls);
    if ("call" in done) calls.delete(done.call);
    const reply = "call" in done && state.doing.reply;
    return endingAhead(
      { ...state, doing: { ...state.doing, calls, reply } },
      this.#known(),
      bodies,
    );
  }

  /** Stores facts that are true at any head: appends again until the head has not moved meanwhile. */
  async #report(bodies: readonly FactBody[]): Promise<void> {
    while (!(await this.#append(bodies, this.#host.journal.state.head)));
  }

  async #append(
    bodies: readonly FactBody[],
    head: number,
    opens?: DriverRequest["opens"],
  ): Promise<boolean> {
    const { incarnation } = this.#claim;
    return await append(this.#host, { incarnation, head, bodies, opens });
  }

  async #ended(thrown: Thrown | undefined, held: number | undefined): Promise<void> {
    // Work of an earlier claim may end as fenced while a newer claim of this driver holds.
    const stale = thrown?.error instanceof Fenced && this.#claim.held !== held;
    if (thrown !== undefined && !stale) await this.#fail(thrown.error);
    this.wake();
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#closed) return;
    this.#stopWork();
    try {
      if (!(error instanceof Fenced)) throw error;
      await this.#host.journal.catchUp();
    } catch (broken) {
      // A broken contract, and no outage: nothing can be recorded, so nothing may be done.
      this.#broken = true;
      this.#onBroken(broken);
    }
    this.wake();
  }

  /** Stops work in progress without recording it: the next driver continues from the facts. */
  #stopWork(): void {
    this.#claim.release();
    this.#underWay.stop(new Fenced());
    this.#memory
      .takeHeld()
      ?.drop()
      .catch(() => undefined); // its lane may be another writer's by now
  }
}
