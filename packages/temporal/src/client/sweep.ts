import type { SessionUid } from "@millrace/core";
import { isChild } from "@millrace/core/ports";
import type { Clock, DriverIndex, DueSession } from "@millrace/core/ports";
import { redactError } from "@millrace/core/secrets";
import type { TemporalDriverEvent } from "./options.ts";
import type { Wakes } from "./wakes.ts";

export interface SweepOptions {
  readonly index: Pick<DriverIndex, "due">;
  readonly wakes: Pick<Wakes, "add" | "sentHeads">;
  readonly report: (event: TemporalDriverEvent) => void;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Aborted when there are to be no more looks. */
  readonly signal: AbortSignal;
}

/**
 * How often the index is read, on average. By chance a fifth more or less, so that nodes drift apart. A
 * session is seen twice after at most 7.2 s, so a lost wake is repeated within 10 s.
 */
const lookMs = 3_000;
/** Before the first look: a node that was killed and starts again makes up for its own wakes. */
const firstLookMs = 500;
/** The bounds of how many sessions are listed. */
const listed = { least: 100, most: 10_000 } as const;
/** At so many looks a session without a run must have had its head: its wake may be on its way. */
const looksIdle = 2;
/** The same for one with a run. Its workflow reads the store at each step, and a step may take a minute. */
const looksRunning = 20;

/** A session that has work at a head which this process has not sent. */
interface Unsent {
  readonly head: number;
  readonly looks: number;
}

/**
 * Finds the sessions whose wake was lost, because its process died between storing an input and sending the
 * signal, and wakes them. Costs one statement for each look. Keeps no process alive.
 */
export async function sweepLostWakes(options: SweepOptions): Promise<void> {
  const { index, wakes, report, clock, random, signal } = options;
  const wait = clock.idle ?? clock.sleep;
  let unsent: ReadonlyMap<SessionUid, Unsent> = new Map();
  let limit: number = listed.least;
  let isAway = false;
  for (let pauseMs = firstLookMs; ; pauseMs = lookMs) {
    await wait(pauseMs * (0.8 + 0.4 * random()), signal);
    if (signal.aborted) return;
    try {
      wakes.sentHeads.beginLook();
      const due = await index.due({ limit });
      wakes.sentHeads.keepListed(new Set(due.map(({ uid }) => uid)));
      unsent = lookAt(due, unsent, wakes);
      // Sessions that wait for a person are listed first, however many they are.
      limit = Math.min(listed.most, Math.max(listed.least, 2 * due.length));
      isAway = false;
    } catch (error) {
      if (!isAway) report({ type: "store_away", error: redactError(error) });
      isAway = true;
    }
  }
}

/** Wakes those that have stood at a head for long enough, and counts the looks of all others. */
function lookAt(
  due: readonly DueSession[],
  before: ReadonlyMap<SessionUid, Unsent>,
  wakes: SweepOptions["wakes"],
): ReadonlyMap<SessionUid, Unsent> {
  const unsent = new Map<SessionUid, Unsent>();
  for (const { uid, sessionId, tenant, head, run } of due) {
    // A sub-agent's session is driven by the call that began it.
    if (isChild({ sessionId }) || wakes.sentHeads.has(uid, head)) continue;
    const known = before.get(uid);
    const looks = known?.head === head ? known.looks + 1 : 1;
    unsent.set(uid, { head, looks });
    if (looks >= (run === undefined ? looksIdle : looksRunning))
      wakes.add({ uid, sessionId, tenant, head });
  }
  return unsent;
}
