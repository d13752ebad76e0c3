import type { Clock, DriverIndex, DueSession } from "@millrace/core/ports";
import { parentOf } from "@millrace/core/store-kit";
import { redactError } from "@millrace/core/secrets";
import type { TemporalDriverEvent } from "./options.ts";
import { Stalls } from "./stalls.ts";
import type { Wakes } from "./wakes.ts";

export interface SweepOptions {
  readonly index: Pick<DriverIndex, "due">;
  readonly wakes: Pick<Wakes, "add" | "sentHeads">;
  /** Whether a workflow of the session runs. */
  readonly isRunning: (session: DueSession) => Promise<boolean>;
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

/**
 * Finds the sessions whose wake was lost, because its process died between storing an input and sending the
 * signal, or because their workflow was ended by an operator, and wakes them. Costs one statement for each
 * look, and a question to Temporal for a session that makes no progress, ever more rarely. Keeps no process alive.
 */
export async function sweepLostWakes(options: SweepOptions): Promise<void> {
  const { index, wakes, report, clock, random, signal } = options;
  const wait = clock.idle ?? clock.sleep;
  const stalls = new Stalls();
  let limit: number = listed.least;
  let isAway = false;
  for (let pauseMs = firstLookMs; ; pauseMs = lookMs) {
    await wait(pauseMs * (0.8 + 0.4 * random()), signal);
    if (signal.aborted) return;
    try {
      wakes.sentHeads.beginLook();
      const all = await index.due({ limit });
      wakes.sentHeads.keepListed(new Set(all.map(({ uid }) => uid)));
      // A sub-agent's session is driven by the call that began it.
      const due = all.filter(({ sessionId }) => parentOf(sessionId) === undefined);
      stalls.look(due, wakes.sentHeads);
      // Sessions that wait for a person are listed first, however many they are.
      limit = Math.min(listed.most, Math.max(listed.least, 2 * all.length));
      isAway = false;
      for (const session of stalls.unsent(due)) wakes.add(wakeOf(session));
      await Promise.all(stalls.doubtful(due).map((session) => check(session, stalls, options)));
    } catch (error) {
      if (!isAway) report({ type: "store_away", error: redactError(error) });
      isAway = true;
    }
  }
}

/** Wakes a session again whose workflow has ended with work left. */
async function check(session: DueSession, stalls: Stalls, options: SweepOptions): Promise<void> {
  const { wakes, isRunning } = options;
  const { uid } = session;
  const runs = await isRunning(session).catch(() => undefined); // away: asked again with the next look
  if (runs === undefined) return;
  stalls.checked(uid);
  if (runs) return;
  wakes.sentHeads.forget(uid);
  wakes.add(wakeOf(session));
}

function wakeOf({ uid, sessionId, tenant, head }: DueSession): Parameters<Wakes["add"]>[0] {
  return { uid, sessionId, tenant, head };
}
