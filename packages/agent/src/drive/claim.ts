import { packEpoch, unpackEpoch } from "@millrace/core/ports";
import type { Epoch } from "@millrace/core/ports";
import type { Action } from "../loop/action.ts";
import { Fenced } from "../work/host.ts";
import type { Epochs, WorkHost } from "../work/host.ts";
import type { Bell } from "./bell.ts";
import { answerRollCalls, seekDriver } from "./roll-call.ts";
import type { RollCallOptions } from "./roll-call.ts";

/** How long a driver that lost the race for a claim waits before it tries again. */
const politeMs = 1_000;
/** How long a run of another driver is left alone before that driver is looked for again. */
const leaveAloneMs = 15_000;

/**
 * This process's claim to drive the session, and the epochs that it gives out while the claim holds.
 * The store decides every claim: it counts an incarnation up and refuses writes of lower ones. A claim
 * ends when a newer incarnation appears among the facts, or when the driver releases it.
 */
export class Claim implements Epochs {
  readonly #host: WorkHost;
  readonly #bell: Bell;
  readonly #closing: AbortSignal;
  /** The claimed incarnation. Unset while this process does not drive. */
  #held: number | undefined;
  #generation = 0;
  /** Until this time a run of another driver is left alone. Unset: look for its driver at once. */
  #leftAloneUntil: number | undefined;
  #answersRollCalls = false;

  constructor(host: WorkHost, bell: Bell, closing: AbortSignal) {
    this.#host = host;
    this.#bell = bell;
    this.#closing = closing;
  }

  get held(): number | undefined {
    return this.#held;
  }

  /** The claimed incarnation. Throws `Fenced` if there is none. */
  get incarnation(): number {
    if (this.#held === undefined) throw new Fenced();
    return this.#held;
  }

  get leftAloneUntil(): number | undefined {
    return this.#leftAloneUntil;
  }

  /** True if the epoch belongs to the claim that holds now. */
  holds(epoch: Epoch): boolean {
    return unpackEpoch(epoch).incarnation === this.#held;
  }

  isSuperseded(): boolean {
    return this.#held !== undefined && this.#host.journal.standing.incarnation > this.#held;
  }

  letGo(): void {
    this.#held = undefined;
  }

  next(): Epoch {
    const { incarnation } = this;
    this.#generation += 1;
    return packEpoch({ incarnation, generation: this.#generation, attempt: 0 });
  }

  last(): Epoch {
    const { incarnation } = this;
    return packEpoch({ incarnation, generation: this.#generation + 1, attempt: 0 }) - 1;
  }

  /**
   * Whether this driver may perform the action. Always, if it holds the claim or the action starts a
   * run: the store then decides between drivers that race. A run in progress belongs to its driver, so
   * another one takes it over only if that driver does not answer. Where the log can't tell whether a
   * driver listens, the run is taken over once, when the session is opened. Costs up to 1 s, at most
   * every 15 s.
   */
  async mayAct(action: Action): Promise<boolean> {
    if (this.#held !== undefined || (action.do === "begin_turn" && action.startsRun)) return true;
    const { clock, journal } = this.#host;
    const until = this.#leftAloneUntil;
    if (until !== undefined && clock.now() < until) return false;
    const found = await seekDriver(this.#rollCall(), journal.standing.incarnation);
    if (this.#closing.aborted) return false;
    if (found === "silent" || (found === "unknown" && until === undefined)) return true;
    this.#leftAloneUntil = clock.now() + leaveAloneMs;
    return false;
  }

  /**
   * Claims the session unless this driver holds it. False means decide again: the claim is itself a new
   * fact, or facts arrived before it, or another driver won the race.
   */
  async hold(isStill: () => boolean): Promise<boolean> {
    const { store, uid, journal, clock } = this.#host;
    if (this.#held !== undefined) return true;
    await journal.catchUp();
    if (!isStill()) return false;
    const leftAloneBefore = this.#leftAloneUntil;
    this.#leftAloneUntil = clock.now() + leaveAloneMs;
    const from = journal.standing.incarnation;
    const { run } = journal.standing;
    const { head } = journal.state;
    const resumed = run === undefined ? {} : { head, resumes: run.runId };
    const answer = await store.claim(uid, { from, ...resumed });
    if (answer.outcome === "claimed") {
      this.#held = answer.incarnation;
      this.#generation = 0;
      void this.#answerRollCalls();
      journal.stored(answer.facts);
      return false; // the claim is a fact
    }
    await journal.catchUp();
    // Not lost to another driver: a person's fact came first. The next decision rests on it.
    if (answer.incarnation === from) this.#leftAloneUntil = leftAloneBefore;
    else await this.#bell.next(clock, clock.now() + politeMs);
    return false;
  }

  /** Answers other processes from the first claim on. If the subscription fails, they find this driver silent. */
  async #answerRollCalls(): Promise<void> {
    if (this.#answersRollCalls) return;
    this.#answersRollCalls = true;
    await answerRollCalls(this.#rollCall(), () => this.#held).catch(() => undefined);
    this.#answersRollCalls = false;
  }

  #rollCall(): RollCallOptions {
    const { log, clock, uid } = this.#host;
    return { log, clock, uid, signal: this.#closing };
  }
}
