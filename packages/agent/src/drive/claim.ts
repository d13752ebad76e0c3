import { packEpoch, unpackEpoch } from "@millrace/core";
import type { Epoch } from "@millrace/core";
import type { Action } from "../loop/action.ts";
import { Fenced } from "../work/host.ts";
import type { Epochs, WorkHost } from "../work/host.ts";
import type { Bell } from "./bell.ts";
import { answerRollCalls, seekDriver } from "./roll-call.ts";
import type { RollCallOptions } from "./roll-call.ts";

/** After this long a process that lost the race for a session may try again. */
const politeMs = 1_000;
/** A run that another process drives is left alone for this long before its driver is asked for again. */
const leaveAloneMs = 15_000;

/** Whether this process drives the session, and the epochs that it gives out while it does. */
export class Claim implements Epochs {
  readonly #host: WorkHost;
  readonly #bell: Bell;
  readonly #closing: AbortSignal;
  /** The incarnation that was claimed, while it is held. */
  #held: number | undefined;
  #generation = 0;
  /** Until then a run that another process began is left alone. Unset: its driver is asked for at once. */
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

  /** The incarnation that is held. Throws `Fenced` if none is. */
  get incarnation(): number {
    if (this.#held === undefined) throw new Fenced();
    return this.#held;
  }

  get leftAloneUntil(): number | undefined {
    return this.#leftAloneUntil;
  }

  /** Whether what was begun under this epoch is still this driver's to end. */
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
   * A run that no process has begun is for the first that comes. One that is on belongs to its driver,
   * and to the process that finds that one silent. Where none can be asked, it is taken over once, at
   * opening.
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

  /** Claims the session if this driver does not hold it. False: decide anew, on what is known then. */
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

  /** From the first claim on. Where the log takes no subscription, others find this driver silent. */
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
