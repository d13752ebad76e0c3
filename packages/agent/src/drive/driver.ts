import { MillraceError } from "@millrace/core";
import { decide } from "../loop/decide.ts";
import { Fenced } from "../work/host.ts";
import type { WorkHost } from "../work/host.ts";
import { ActionHost } from "./action-host.ts";
import { Claim } from "./claim.ts";
import { recordRelease } from "./record-release.ts";
import { SessionWork } from "./session-work.ts";
import type { Thrown } from "./session-work.ts";
import { WakeSignal } from "./wake-signal.ts";

/**
 * Runs the loop of one session in this process: decide, claim the session if needed, perform, repeat.
 * Long work (a reply, a tool, a compaction) runs beside the loop, so that the loop always reacts to a
 * stop. All durable state is in the store. What the driver remembers besides (`TurnMemory`) may be lost
 * in a crash; the next driver computes it again.
 *
 * One `Driver` exists for each open session that drives. It starts in the constructor and ends with
 * `close`, or when a port breaks its contract: then `onBroken` gets the error. A store that is away is
 * waited for inside its calls, see `retryingStore`: work goes on, and what it has made is stored later.
 */
export class Driver {
  readonly #host: WorkHost;
  readonly #onBroken: (error: unknown) => void;
  readonly #signal = new WakeSignal();
  readonly #claim: Claim;
  readonly #work: SessionWork;
  readonly #actions: ActionHost;
  readonly #running: Promise<void>;
  #broken = false;

  constructor(host: WorkHost, onBroken: (error: unknown) => void) {
    this.#host = host;
    this.#onBroken = onBroken;
    const work = new SessionWork(
      host.clock,
      () => this.#claim.held,
      (thrown, held) => this.#ended(thrown, held),
    );
    const claim = new Claim(host, () => this.wake(), work.closing);
    this.#work = work;
    this.#claim = claim;
    this.#actions = new ActionHost({ host, work, claim, opensReplies: true });
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
    this.#claim.release();
    this.#work.close();
    this.wake();
    await this.#work.atMost(this.#running); // a call to a store that hangs may be in it
    held ??= this.#claim.held; // a claim that was under way has been granted meanwhile
    await this.#work.ended();
    if (held !== undefined && !this.#broken)
      // If the store fails, the session looks crashed.
      await this.#work.atMost(recordRelease(this.#host, held).catch(() => undefined));
    await this.#claim.close();
  }

  get #closed(): boolean {
    return this.#broken || this.#work.closing.aborted;
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
    const { head } = journal.state;
    const action = decide(this.#actions.state());
    this.#claim.showLife(action);
    if (action.do === "wait") {
      const { until } = action;
      const ms = until === undefined ? undefined : until - store.now();
      return await this.#signal.sleep(clock, ms);
    }
    if (!(await this.#claim.mayAct(action))) return await this.#signal.sleep(clock);
    const isCurrent = (): boolean => head === journal.state.head;
    if (!(await this.#claim.hold(isCurrent)) || !isCurrent()) return;
    // An action that is already done would be decided for ever if the head has not moved.
    if (!(await this.#actions.perform(action, head)) && isCurrent())
      throw new MillraceError(
        "broken_port",
        "the facts call for an action that the same facts show as done: the store or the log returned facts that do not fit together",
      );
  }

  async #ended(thrown: Thrown | undefined, held: number | undefined): Promise<void> {
    // Work of an earlier claim may end as fenced while a newer claim of this driver holds.
    const stale = thrown?.error instanceof Fenced && this.#claim.held !== held;
    if (thrown !== undefined && !stale) await this.#fail(thrown.error);
    this.wake();
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#closed) return;
    this.#claim.release();
    this.#work.abandon();
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
}
