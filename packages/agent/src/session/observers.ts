import type { InputId, RunEvent, RunId } from "@millrace/core";
import type { Observer } from "../definition/observer.ts";
import { runIdOf } from "../loop/ids.ts";
import { callObservers } from "../observe/call-observers.ts";
import type { Acceptance } from "./input.ts";

const none: readonly Observer[] = [];

/**
 * The observers of one session in this process: those of its agent, and those of single runs. They are
 * never stored: a process that takes the session over has only its own.
 */
export class Observers {
  readonly #agent: readonly Observer[];
  readonly #runs = new Map<RunId, readonly Observer[]>();
  /** Observers of runs whose input is not confirmed as stored yet. */
  readonly #sent = new Map<RunId, readonly Observer[]>();

  constructor(agent: readonly Observer[]) {
    this.#agent = agent;
  }

  /**
   * Registers observers for the run that an input begins, until the run ends. They are called once the
   * input is stored, and never if it is refused. If an input is sent again under its key, the observers
   * of the first call stay.
   */
  add(inputId: InputId, observers: readonly Observer[], accepted: Promise<Acceptance>): void {
    const runId = runIdOf(inputId);
    if (observers.length === 0 || this.#runs.has(runId) || this.#sent.has(runId)) return;
    this.#sent.set(runId, observers);
    void accepted.then((answer) =>
      answer.accepted ? this.#begin(runId) : this.#sent.delete(runId),
    );
  }

  has(runId: RunId): boolean {
    return this.#agent.length > 0 || this.#runs.has(runId);
  }

  /** Calls the agent's observers, then the run's, in the order given. `current` is the current run. */
  call(event: RunEvent, current: RunId | undefined): void {
    if (event.type === "input_accepted") this.#begin(runIdOf(event.inputId));
    const given = this.#runs.size === 0 ? none : this.#ofRun(event, current);
    callObservers(given.length === 0 ? this.#agent : [...this.#agent, ...given], event);
    if (event.type === "run_finished") this.#runs.delete(event.runId);
    if (event.type === "queue_updated") this.#runs.delete(runIdOf(event.inputId));
  }

  #begin(runId: RunId): void {
    const observers = this.#sent.get(runId);
    if (observers !== undefined) this.#runs.set(runId, observers);
    this.#sent.delete(runId);
  }

  /** An event with a run id belongs to that run; any other to the current run, or to the one its input begins. */
  #ofRun(event: RunEvent, current: RunId | undefined): readonly Observer[] {
    if ("runId" in event && event.runId !== undefined) return this.#runs.get(event.runId) ?? none;
    const begun = "inputId" in event ? runIdOf(event.inputId) : undefined;
    const runs = new Set([current, begun]);
    return [...runs].flatMap((id) => (id === undefined ? none : (this.#runs.get(id) ?? none)));
  }
}
