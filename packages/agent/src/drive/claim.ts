import { packEpoch, unpackEpoch } from "@millrace/core/ports";
import type { Epoch } from "@millrace/core/ports";
import type { Action } from "../loop/action.ts";
import { Fenced } from "../work/host.ts";
import type { Epochs, WorkHost } from "../work/host.ts";
import type { WakeSignal } from "./wake-signal.ts";
import { answerSeekers, seekDriver } from "./presence.ts";
import type { PresenceOptions } from "./presence.ts";

/** How long a driver that lost the race for a claim waits before it tries again. */
const claimRetryMs = 1_000;
/** How long this driver waits before it looks again for the other driver of a run. */
const deferMs = 15_000;

/**
 * This process's claim to drive the session, and the epochs that it gives out while the claim holds.
 * The store decides every claim: it counts an incarnation up and refuses writes of lower ones. A claim
 * ends when a newer incarnation appears among the facts, or when the driver releases it.
 */
export class Claim implements Epochs {
  readonly #host: WorkHost;
  readonly #signal: WakeSignal;
  readonly #closing: AbortSignal;
  /** The claimed incarnation. Unset while this process does not drive. */
  #held: number | undefined;
  #generation = 0;
  /** Before this monotonic time the run of another driver is not taken over. Unset: look for its driver at once. */
  #deferredUntil: number | undefined;
  #answersSeekers = false;

  constructor(host: WorkHost, signal: WakeSignal, closing: AbortSignal) {
    this.#host = host;
    this.#signal = signal;
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

  /** How long this driver leaves the run to another one. Undefined: nothing is deferred. */
  get deferredMs(): number | undefined {
    const until = this.#deferredUntil;
    return until === undefined ? undefined : until - this.#host.clock.monotonic();
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
    const until = this.#deferredUntil;
    if (until !== undefined && clock.monotonic() < until) return false;
    const found = await seekDriver(this.#presence(), journal.standing.incarnation);
    if (this.#closing.aborted) return false;
    if (found === "silent" || (found === "unknown" && until === undefined)) return true;
    this.#deferredUntil = clock.monotonic() + deferMs;
    return false;
  }

  /**
   * Claims the session unless this driver holds it. False means decide again: the claim is itself a new
   * fact, or facts arrived before it, or another driver won the race.
   */
  async hold(isCurrent: () => boolean): Promise<boolean> {
    const { store, uid, journal, clock } = this.#host;
    if (this.#held !== undefined) return true;
    await journal.catchUp();
    if (!isCurrent()) return false;
    const deferredBefore = this.#deferredUntil;
    this.#deferredUntil = clock.monotonic() + deferMs;
    const from = journal.standing.incarnation;
    const { run } = journal.standing;
    const { head } = journal.state;
    const resumed = run === undefined ? {} : { head, resumes: run.runId };
    const answer = await store.claim(uid, { from, ...resumed });
    if (answer.outcome === "claimed") {
      this.#held = answer.incarnation;
      this.#generation = 0;
      void this.#answerSeekers();
      journal.stored(answer.facts);
      return false; // the claim is a fact
    }
    await journal.catchUp();
    // Not lost to another driver: a person's fact came first. The next decision rests on it.
    if (answer.incarnation === from) this.#deferredUntil = deferredBefore;
    else await this.#signal.sleep(clock, claimRetryMs);
    return false;
  }

  /** Answers other processes from the first claim on. If the subscription fails, they find this driver silent. */
  async #answerSeekers(): Promise<void> {
    if (this.#answersSeekers) return;
    this.#answersSeekers = true;
    await answerSeekers(this.#presence(), () => this.#held).catch(() => undefined);
    this.#answersSeekers = false;
  }

  #presence(): PresenceOptions {
    const { log, clock, uid } = this.#host;
    return { log, clock, uid, signal: this.#closing };
  }
}
