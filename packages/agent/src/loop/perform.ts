import type { FactBody } from "@millrace/core/writing";
import type { Action, RecordAction, WorkAction } from "./action.ts";
import { factsFor } from "./facts.ts";
import type { Known } from "./known.ts";

/** What a host of the loop can do. The inline driver, the simulation and an engine's worker are hosts. */
export interface LoopHost<Done> {
  /** Stores the facts of an action at the head that the decision rests on. */
  readonly record: (action: RecordAction, bodies: readonly FactBody[]) => Done;
  /** Begins what takes long. What comes of it is a fact, or in the host's memory, later. */
  readonly begin: (action: WorkAction) => Done;
  /** There is nothing to do for this action: it is a wait, or the session has moved on. */
  readonly skip: () => Done;
}

/** Performs an action on a host: what it records is made of the facts, what it begins is the host's. */
export function perform<Done>(host: LoopHost<Done>, action: Action, known: () => Known): Done {
  switch (action.do) {
    case "wait":
      return host.skip();
    case "reply":
    case "respond":
    case "assess":
    case "execute":
    case "check_answers":
    case "compact":
    case "check_output":
    case "interrupt":
      return host.begin(action);
    default: {
      const bodies = factsFor(action, known());
      return bodies === undefined ? host.skip() : host.record(action, bodies);
    }
  }
}
