import type { Fact } from "@millrace/core";

/** What was tried, over all sessions of a backend. */
export interface Tally {
  sessions: number;
  /** Cursors of those who watched from the start, and of all who came back. */
  cursors: number;
  others: number;
  /** Cursors that came with the last message: nobody can come back with one before the end. */
  last: number;
  midway: number;
  /** Of those who were cut off in the midst of a welcome, with lanes open. */
  amid: number;
  late: number;
  atEnd: number;
  /** The most operations that a newcomer got for one part. */
  operations: number;
  /** What the sessions held, by name: to see that this tries what it says it tries. */
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
