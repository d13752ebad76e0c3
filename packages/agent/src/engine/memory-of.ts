import { verdictOf } from "../loop/calls.ts";
import type { CallVerdict, LoopState } from "../loop/state.ts";
import type { StepMemory } from "./step.ts";

/** What a step found out and did not store, as an engine keeps it: without what has no use any more. */
export function memoryOf(state: LoopState, now: number): StepMemory {
  const { standing, doing } = state;
  const calls = standing.run?.turn?.reply?.calls.filter(({ settled }) => !settled) ?? [];
  const open = new Set(calls.map(({ itemId }) => itemId));
  const verdicts = calls.flatMap((call) => {
    const verdict = verdictOf(state, call); // with labels, which the engine does not know
    return verdict === undefined ? [] : [[call.itemId, withoutHash(verdict)] as const];
  });
  const answers = [...doing.answers].filter(([itemId]) => open.has(itemId));
  const { failed, output } = doing;
  return {
    ...(verdicts.length === 0 ? {} : { verdicts }),
    ...(answers.length === 0 ? {} : { answers }),
    ...(output === "valid" ? {} : { output }),
    ...(failed === undefined ? {} : { failed: withoutTime(failed, now) }),
  };
}

/** The step that runs a call assesses it itself. Only a question's hash is compared by the engine too. */
function withoutHash(verdict: CallVerdict): CallVerdict {
  return verdict.decision === "allow" ? { ...verdict, hash: "" } : verdict;
}

function withoutTime(
  { retryAt, ...failed }: NonNullable<LoopState["doing"]["failed"]>,
  now: number,
): NonNullable<StepMemory["failed"]> {
  return retryAt === undefined ? failed : { ...failed, retryInMs: Math.max(0, retryAt - now) };
}
