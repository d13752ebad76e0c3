import { turnMessages } from "./encode/history.ts";
import type { Profile } from "./encode/profiles.ts";
import { sessionOf, untilGrid } from "@millrace/server/dialect";
import type { RouteWork } from "@millrace/server/dialect";
import { newestMessages } from "../shared/newest-messages.ts";
import { blobUrlOf } from "../shared/blob-url-of.ts";
import { runAnswer } from "./run-answer.ts";
import { readSessionRuns } from "../shared/session-runs.ts";

/** The session as messages, the newest of them, to begin a page with. */
export function readMessages(profile: Profile): RouteWork {
  return async (context) => {
    const session = sessionOf(context);
    const { uid, sessionId } = session;
    const options = { uid, sessionId, profile, blobUrl: blobUrlOf(context, session) };
    const page = await newestMessages(context, (turn) => turnMessages(turn, options));
    return { status: 200, json: page };
  };
}

/**
 * The message that is being written, from its start, or 204. One that waits for an answer is in the history.
 * A page also asks for a chat that it has just named: what is missing is 204 too, and what is another's.
 */
export function resumeStream(profile: Profile): RouteWork {
  return async (context) => {
    const { clock } = context;
    const begun = clock.monotonic();
    const session = await context.open(context.params["chat"] ?? "", "read");
    if (session === undefined) {
      await context.quotas.missed();
      await untilGrid(() => clock.monotonic() - begun, clock.sleep);
      return { status: 204 };
    }
    const { run, next, isWaiting, state } = await readSessionRuns(context, session);
    const current = run === undefined ? next : isWaiting ? undefined : run;
    if (current === undefined) return { status: 204 };
    const { runId, head } = current;
    return runAnswer(profile, context, session, { runId, head, live: state.head });
  };
}
