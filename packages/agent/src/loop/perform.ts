import type { FactBody } from "@millrace/core/writing";
import type { Action, RecordAction, WorkAction } from "./action.ts";
import { factsFor } from "./facts.ts";
import type { FactContext } from "./fact-context.ts";

/**
 * How a host performs actions. Implemented by the driver, by the simulation of the tests and by workers
 * of engines. `Done` is `Promise<void>` for an async host.
 */
export interface LoopHost<Done> {
  /** Appends the facts if the head is still the one of the decision. Otherwise stores nothing. */
  readonly record: (action: RecordAction, bodies: readonly FactBody[]) => Done;
  /** Starts work and does not wait for it. Its result is a later fact, or is kept in the host's memory. */
  readonly begin: (action: WorkAction) => Done;
  /** Called if there is nothing to do: the action is a wait, or no longer fits the session. */
  readonly skip: () => Done;
}

/**
 * Performs one action of `decide` on a host. The host calls it once for each decision. `context` is called
 * only for actions that store facts. Errors of the host's functions pass through.
 */
export function perform<Done>(
  host: LoopHost<Done>,
  action: Action,
  context: () => FactContext,
): Done {
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
      const bodies = factsFor(action, context());
      return bodies === undefined ? host.skip() : host.record(action, bodies);
    }
  }
}
