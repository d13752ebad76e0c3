import { Problem } from "../http/problem.ts";
import type { RouteWork } from "../http/route-context.ts";
import { sessionOf } from "./common.ts";
import { tagged } from "./etag.ts";

/** How long a session may take to be read. */
const readMs = 10_000;

/** The state of a session with its open lanes, and the cursor from which its events go on. */
export const getSnapshot: RouteWork = async (context) => {
  const { hub, query, signal, limits } = context;
  const { uid, sessionId } = sessionOf(context);
  const budget = query["budget"] as number | undefined; // of the route's shape
  // Of a new viewer the first message is the snapshot. Lanes that are ahead of it are left to the events.
  const maxBytes = limits.answerBytes;
  const wanted = { uid, sessionId, budget, signal, waitMs: readMs, maxBytes };
  const { messages } = await hub.collect(wanted);
  const [first] = messages;
  if (first === undefined) {
    throw new Problem("store_unavailable", "the session could not be read in time: repeat it", {
      retryAfter: 2,
    });
  }
  const { id: cursor, message } = first;
  return tagged(context, `"${cursor}"`, () => ({
    status: 200,
    json: { cursor, snapshot: message },
  }));
};
