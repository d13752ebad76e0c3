import { numberFacts } from "@millrace/core/store-kit";
import type { FactBody } from "@millrace/core/writing";
import { advance } from "./advance.ts";
import { decide } from "./decide.ts";
import { factsFor } from "./facts.ts";
import type { FactContext } from "./fact-context.ts";
import { callsToRemember } from "./limits.ts";
import { outline } from "./outline.ts";
import type { LoopState } from "./state.ts";

/**
 * The facts that end the turn and the run once `bodies` are stored, by the same decisions that a driver
 * would make then. It stores them in one transaction with `bodies` and saves a round trip for each. Empty
 * if the next decision is anything else. Correct only at the head of `context`: a store refuses them at any
 * other.
 */
export function endingAhead(
  state: LoopState,
  context: FactContext,
  bodies: readonly FactBody[],
): readonly FactBody[] {
  const following: FactBody[] = [];
  const remember = callsToRemember(state.settings);
  let { standing } = state;
  const take = (taken: readonly FactBody[]): void => {
    for (const fact of numberFacts(taken, context.state, state.now))
      standing = advance(standing, outline(fact), remember);
  };
  take(bodies);
  for (;;) {
    const action = decide({ ...state, standing });
    // The cause of a failed run is in the reply, which `context` does not hold yet.
    const ends =
      action.do === "finish_turn" ||
      (action.do === "finish_run" && action.ending.outcome === "completed");
    const facts = ends ? factsFor(action, { ...context, standing }) : undefined;
    if (facts === undefined) return following;
    following.push(...facts);
    take(facts);
  }
}
