import type { WorkHost } from "../work/host.ts";

/**
 * Stores that the driver with this incarnation has left the run that is on, so that another one goes on with it at
 * once. Stores nothing if no run is on, if another claim holds, or if that is stored. To be called after all
 * other facts of the driver.
 */
export async function recordRelease(
  { store, uid, journal }: WorkHost,
  incarnation: number,
): Promise<void> {
  for (;;) {
    await journal.catchUp();
    const { run } = journal.standing;
    if (run === undefined || journal.standing.incarnation !== incarnation) return;
    if (journal.state.run?.released === incarnation) return;
    const { runId } = run;
    const released = { type: "session_released", incarnation, runId, reason: "shutdown" } as const;
    const { head } = journal.state;
    const answer = await store.append(uid, { incarnation, head, bodies: [released] });
    if (answer.outcome === "appended") journal.stored(answer.facts);
    if (answer.outcome !== "moved") return;
  }
}
