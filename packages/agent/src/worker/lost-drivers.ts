import type { DueSession, SessionStore } from "@millrace/core/ports";

/**
 * A run that has ended several drivers in a row before they stored anything. What it does may end the
 * process: a reply or a tool that takes all memory. So it is tried with pauses that grow, as a session
 * that fails is, and does not end one worker after the other.
 */
export class LostDrivers extends Error {
  readonly count: number;

  constructor(run: string, count: number) {
    super(
      `${run} lost ${count} drivers in a row before one of them stored anything: look for a crash in their logs, or stop the run`,
    );
    this.name = "LostDrivers";
    this.count = count;
  }
}

/** How many of the last facts are read. So many lost drivers in a row make the longest pause. */
const factsRead = 32;

/**
 * How many drivers have claimed the session for its run since anything else of the run was stored. Inputs
 * of people do not count. A driver that released the run is not lost.
 */
export async function countLostDrivers(
  store: SessionStore,
  { uid, head, run }: DueSession,
): Promise<number> {
  if (run === undefined) return 0;
  const facts = await store.read(uid, { before: head + 1, limit: factsRead });
  const newest = facts.toReversed().filter(({ type }) => type !== "input_accepted");
  const other = newest.findIndex((fact) => fact.type !== "session_claimed" || fact.resumes !== run);
  return other < 0 ? newest.length : other;
}
