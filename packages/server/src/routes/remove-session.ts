import { removeSession as removeStored } from "@millrace/core/store-kit";
import type { RouteWork } from "../http/route-context.ts";
import { actorOf, inboxOf, sessionOf } from "./common.ts";

/**
 * Stops the run, then removes the session with its sub-agents, blobs and live lanes. Its viewers end with
 * `removed`. Work that is under way elsewhere ends when it stores something next.
 */
export const removeSession: RouteWork = async (context) => {
  const { store, log, blobs } = context;
  const session = sessionOf(context);
  const { uid, sessionId, tenant, status } = session;
  // The stop reaches tools at once. Without its answer the session is removed all the same.
  if (status !== "idle") {
    await inboxOf(context, session).abort({ reason: "the session is removed" });
    context.runs.note(session, () => store.head(uid));
  }
  await removeStored({ store, log, blobs, tenant, sessionId, actor: actorOf(context) });
  return { status: 204 };
};
