import { MillraceError } from "@millrace/core";
import { endlessPause } from "@millrace/core/model";
import { packEpoch, unpackEpoch } from "@millrace/core/ports";
import type { DriverIndex, Epoch } from "@millrace/core/ports";
import type { Action } from "../loop/action.ts";
import { Fenced } from "../work/host.ts";
import type { Epochs, WorkHost } from "../work/host.ts";
import { lifeOf } from "./life.ts";
import type { DriverLife } from "./life.ts";

/** How long a driver that has claimed a session for an input may take to begin its run. */
const beginMs = 10_000;
/** The same in a store without an index of drivers, where the other driver can't be observed. */
const blindBeginMs = 1_000;

/**
 * This process's claim to drive the session, and the epochs that it gives out while the claim holds.
 * The store decides every claim: it counts an incarnation up, and refuses writes of lower ones and
 * claims that were decided on older facts. A claim ends when a newer incarnation appears among the
 * facts, or when the driver releases it.
 */
export class Claim implements Epochs {
  readonly #host: WorkHost;
  readonly #life: DriverLife;
  readonly #wake: () => void;
  readonly #closing: AbortSignal;
  /** The claimed incarnation. Unset while this process does not drive. */
  #held: number | undefined;
  #generation = 0;
  /** True once this driver has tried to claim. */
  #tried = false;

  constructor(host: WorkHost, wake: () => void, closing: AbortSignal) {
    this.#host = host;
    this.#life = lifeOf({ ...host, store: host.originalStore });
    this.#wake = wake;
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

  /** True if the epoch belongs to the claim that holds now. */
  holds(epoch: Epoch): boolean {
    return unpackEpoch(epoch).incarnation === this.#held;
  }

  isSuperseded(): boolean {
    return this.#held !== undefined && this.#host.journal.standing.incarnation > this.#held;
  }

  /** Gives the claim up in this process only. The store learns of it from a fact, see `Driver.close`. */
  release(): void {
    this.#held = undefined;
    this.#life.rest(this.#host.uid);
  }

  /** Ends the observation of other drivers, and resolves once this one's signs of life are removed. */
  async close(): Promise<void> {
    this.release();
    this.#life.takeBack(this.#host.uid);
    await this.#life.left();
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

  /** Called with each decision: this process shows signs of life for as long as it has work here. */
  showLife(action: Action): void {
    const { journal, store, uid } = this.#host;
    const works = action.do !== "wait" || journal.standing.run !== undefined;
    if (this.#held !== undefined && works) this.#life.drive(uid, store.drivers);
    else this.#life.rest(uid);
    if (action.do === "wait") this.#life.takeBack(uid); // nothing to do here if its driver dies
  }

  /**
   * Whether this driver may perform the action. Always, if it holds the claim. A run in progress belongs
   * to its driver until that one has released it or is dead. An input belongs to every driver, until one
   * of them has claimed the session for it: that one begins its run, unless it is dead or takes longer
   * than 10 s. If not, `wake` is called when that changes.
   */
  async mayAct(action: Action): Promise<boolean> {
    if (this.#held !== undefined) return true;
    const { journal, store } = this.#host;
    const { run, incarnation } = journal.state;
    if (run !== undefined && run.released === incarnation) return true;
    const begins = action.do === "begin_turn" && action.startsRun ? action.takes : undefined;
    if (begins !== undefined && !journal.runs.claimedFor(begins)) return true;
    if (store.drivers !== undefined)
      return !(await this.#leaves(store.drivers, begins === undefined ? Infinity : beginMs));
    // The lock of the store shows that no other process writes this session.
    if (store.hold !== undefined) return true;
    // Nothing is known of the other driver. Its run is taken over once, when the session is opened: two
    // processes would take it from each other for ever.
    if (begins === undefined) return !this.#tried;
    if (this.#tried) await this.#host.clock.sleep(blindBeginMs, this.#closing);
    return !this.#closing.aborted;
  }

  /**
   * Claims the session unless this driver holds it. False means decide again: the claim is itself a new
   * fact, or facts arrived before it, or another driver won the race.
   */
  async hold(isCurrent: () => boolean): Promise<boolean> {
    const { store, uid, journal } = this.#host;
    if (this.#held !== undefined) return true;
    await journal.catchUp();
    if (!isCurrent() || this.#closing.aborted) return false;
    const triedBefore = this.#tried;
    this.#tried = true;
    const { incarnation: from, run } = journal.standing;
    const { head } = journal.state;
    const resumed = run === undefined ? {} : { resumes: run.runId };
    const answer = await store.claim(uid, { from, head, driver: this.#life.name, ...resumed });
    if (answer.outcome === "claimed") {
      this.#held = answer.incarnation;
      this.#generation = 0;
      this.#life.takeBack(uid);
      this.#life.drive(uid, store.drivers);
      journal.stored(answer.facts);
    } else {
      // Another driver won the race, or a person's fact came first. The next decision rests on it.
      await journal.catchUp();
      if (answer.incarnation === from) this.#tried = triedBefore;
    }
    return false;
  }

  /** Whether the session is left to its driver. Waits while the store is away: it kills no driver. */
  async #leaves(drivers: DriverIndex, patienceMs: number): Promise<boolean> {
    const { uid, journal, clock, random } = this.#host;
    const { incarnation, run } = journal.standing;
    const claim = { uid, incarnation, run: run?.runId };
    const options = { drivers, wake: this.#wake, patienceMs };
    for (let failures = 1; !this.#closing.aborted; failures += 1) {
      try {
        return await this.#life.isDriven(claim, options);
      } catch (error) {
        if (MillraceError.is(error)) throw error;
        await clock.sleep(endlessPause(failures, random()), this.#closing);
      }
    }
    return true;
  }
}
