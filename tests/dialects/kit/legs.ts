import type { Fact } from "@millrace/core";
import { runIdOf } from "@millrace/core/writing";
import { legsOf } from "../../../packages/dialects/src/openai/encode/leg.ts";
import type { ToldLeg } from "../../../packages/dialects/src/openai/encode/run-event-builder.ts";
import type { WatchedRun, WatchedSession } from "./sessions.ts";

/** A leg of a run that a client sees as one response, and the facts of its run. */
export interface WatchedLeg {
  readonly leg: ToldLeg;
  /** From the fact on that accepted the prompt. */
  readonly facts: readonly Fact[];
  /** Its last fact. */
  readonly to: number;
}

/** The legs of a run that is over. */
export function watchedLegs(
  { uid, sessionId, facts: all }: WatchedSession,
  { runId }: WatchedRun,
): readonly WatchedLeg[] {
  const at = all.findIndex(
    (fact) => fact.type === "input_accepted" && runIdOf(fact.inputId) === runId,
  );
  const facts = all.slice(Math.max(0, at));
  const run = { uid, sessionId, runId, head: (facts[0]?.n ?? 1) - 1 };
  const legs = legsOf(run, facts);
  return legs.map(({ from, to = Infinity }, place) => {
    const before = legs[place - 1]?.from;
    return { leg: { ...run, from, before }, facts, to };
  });
}

/** The facts that were stored when a session stood at a place. */
export function factsAt(
  { states }: WatchedSession,
  { facts }: WatchedLeg,
  place: number,
): readonly Fact[] {
  const head = states[place]?.head ?? 0;
  return facts.filter(({ n }) => n <= head);
}
