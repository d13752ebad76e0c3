import type { Fact } from "@millrace/core";
import { runIdOf } from "@millrace/core/writing";
import { segmentsOf } from "../../../packages/dialects/src/openai/encode/response-segment.ts";
import type { FollowedSegment } from "../../../packages/dialects/src/openai/encode/run-event-builder.ts";
import type { WatchedRun, WatchedSession } from "./sessions.ts";

/** A segment of a run that a client sees as one response, and the facts of its run. */
export interface WatchedSegment {
  readonly segment: FollowedSegment;
  /** From the fact on that accepted the prompt. */
  readonly facts: readonly Fact[];
  /** Its last fact. */
  readonly to: number;
}

/** The segments of a run that is over. */
export function watchedSegments(
  { uid, sessionId, facts: all }: WatchedSession,
  { runId }: WatchedRun,
): readonly WatchedSegment[] {
  const at = all.findIndex(
    (fact) => fact.type === "input_accepted" && runIdOf(fact.inputId) === runId,
  );
  const facts = all.slice(Math.max(0, at));
  const run = { uid, sessionId, runId, head: (facts[0]?.n ?? 1) - 1 };
  const segments = segmentsOf(run, facts);
  return segments.map(({ from, to = Infinity }, place) => {
    const before = segments[place - 1]?.from;
    return { segment: { ...run, from, before }, facts, to };
  });
}

/** The facts that were stored when a session stood at a place. */
export function factsAt(
  { states }: WatchedSession,
  { facts }: WatchedSegment,
  place: number,
): readonly Fact[] {
  const head = states[place]?.head ?? 0;
  return facts.filter(({ n }) => n <= head);
}

/** The place at which a client is given the id of the response: its prompt or its answers are stored. */
export function startOf(
  { states }: WatchedSession,
  { first }: WatchedRun,
  { segment }: WatchedSegment,
): number {
  if (segment.from === 0) return first;
  return states.findIndex(({ head }) => head > segment.from);
}
