import type { Fact } from "@millrace/core";

/** What was tried, over all sessions of a backend. */
export interface Tally {
  sessions: number;
  /** Cursors of viewers from the start, and of all that reconnected. */
  cursors: number;
  others: number;
  /** Cursors that came with the last message: no viewer can reconnect with one before the end. */
  last: number;
  midway: number;
  /** Of viewers that were cut off in the midst of a welcome, with lanes open. */
  amid: number;
  late: number;
  atEnd: number;
  /** The most operations that a newcomer got for one part. */
  operations: number;
  /** What the sessions held, by name: the test checks that all of it occurred. */
  readonly held: Map<string, number>;
}

export function emptyTally(): Tally {
  const none = { sessions: 0, cursors: 0, others: 0, last: 0 };
  return { ...none, midway: 0, amid: 0, late: 0, atEnd: 0, operations: 0, held: new Map() };
}

/** What a fact is counted as. */
export function nameOfFact(fact: Fact): string {
  if (fact.type === "run_finished") return `run ${fact.outcome}`;
  if (fact.type === "session_claimed" && fact.incarnation > 1) return "takeover";
  return fact.type;
}
