import type { RouteWork } from "../http/route-context.ts";
import { inboxOf, sessionOf } from "./common.ts";
import { problemOf } from "./refusals.ts";

/**
 * Stops a run, or takes back the prompt that would begin it. Resolved against the store, so a stop that
 * races the start of its run has exactly these two outcomes. One stop is stored for a run.
 */
export const abortRun: RouteWork = async (context) => {
  const session = sessionOf(context);
  const { runId, reason } = (context.body ?? {}) as AbortBody; // of the route's shape
  const { key } = context;
  const stopped = await inboxOf(context, session).abort({ runId, reason, key });
  if (!stopped.accepted) throw problemOf(stopped);
  if (stopped.runId === undefined) return { status: 200, json: {} };
  context.runs.note(session, () => context.store.head(session.uid));
  return { status: 202, json: { runId: stopped.runId } };
};

interface AbortBody {
  readonly runId?: string;
  readonly reason?: string;
}
