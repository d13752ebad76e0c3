import type { Fact, SessionState, Usage } from "@millrace/core";
import { addUsage, noUsage } from "@millrace/core/writing";
import type { FactOf } from "@millrace/core/writing";
import { legEnd, legWaits } from "./leg-end.ts";
import type { LegEnd } from "./response-json.ts";
import type { ToldLeg } from "./run-event-builder.ts";

/** When a leg began and ended, what it used, and how it ended: by its facts. */
export class LegClock {
  readonly #leg: ToldLeg;
  #created: number | undefined;
  #last: number | undefined;
  #usage: Usage = noUsage;
  #ended: FactOf<"run_finished"> | undefined;

  constructor(leg: ToldLeg) {
    this.#leg = leg;
  }

  /** In seconds. */
  get created(): number {
    return this.#created ?? 0;
  }

  /** The time of the last fact, in seconds. */
  get last(): number | undefined {
    return this.#last;
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** Notes the next fact of the session. */
  note(fact: Fact): void {
    const { from, runId } = this.#leg;
    if (fact.n <= from) return;
    this.#last = Math.floor(fact.time / 1_000);
    this.#created ??= this.#last;
    if (!("runId" in fact) || fact.runId !== runId) return;
    if (fact.type === "usage_reported") this.#usage = addUsage(this.#usage, fact.usage);
    if (fact.type === "run_finished") this.#ended = fact;
  }

  /** How the leg ended, by the state after its last fact. */
  end(state: SessionState): LegEnd {
    const isWait = this.#ended === undefined && state.run !== undefined;
    return isWait ? legWaits : legEnd(state, this.#ended);
  }
}

const ends: Readonly<Record<string, string>> = {
  expired: "You are signed out. Sign in again to go on.",
  revoked: "You may no longer read this session.",
  not_found: "This session is not there.",
  removed: "This session was removed.",
};

/** The sentence for a reader whose stream could not be written to its end, with what it can do. */
export function interruption(reason: string, then: string): string {
  return ends[reason] ?? `The connection was ended. ${then}`;
}
