import type { DueSession } from "@millrace/core/ports";
import { parentOf } from "@millrace/core/store-kit";

/** What decides whether a session that has work is taken. */
export interface SessionChecks {
  readonly isOpen: (session: DueSession) => boolean;
  /** True if the session had nothing to do at this head. */
  readonly isDone: (session: DueSession) => boolean;
  /** True while a session that failed is not to be tried again. */
  readonly isBackedOff: (session: DueSession) => boolean;
  /** True if another driver has the session, and is not known to be dead. */
  readonly isDriven: (session: DueSession) => boolean;
}

/** What a worker does about the sessions that have work. */
export interface Choice {
  /** In the order of the listing, those first that have waited longest. */
  readonly take: readonly DueSession[];
  /** How many of the listed sessions are not for this worker to take now. */
  readonly passed: number;
}

/**
 * Chooses the sessions to take, as many as there is room for. A run belongs to its driver while that one
 * lives; an input that waits belongs to the first that claims it. The session of a sub-agent is driven by
 * the call that began it, so it is never taken by itself: its parent's driver goes on with it.
 */
export function choose(due: readonly DueSession[], checks: SessionChecks, room: number): Choice {
  const free = due.filter(
    (session) =>
      parentOf(session.sessionId) === undefined &&
      !checks.isOpen(session) &&
      !checks.isDone(session) &&
      !checks.isBackedOff(session) &&
      !(session.run !== undefined && checks.isDriven(session)),
  );
  return { take: free.slice(0, Math.max(0, room)), passed: due.length - free.length };
}
