import { decodeCursor } from "@millrace/core/wire";
import type { Cursor } from "@millrace/core/reading";
import type { SessionRecord } from "@millrace/core/ports";
import type { DeliverOptions } from "../hub/options.ts";
import type { Answer } from "../http/answer.ts";
import type { RouteContext, RouteWork } from "../http/route-context.ts";
import { sessionOf } from "./common.ts";
import { Problem } from "../http/problem.ts";
import { tagged } from "./etag.ts";

/** How a session is shown in a stream. */
export type StreamOptions = Pick<DeliverOptions, "cursor" | "budget" | "form" | "until">;

/** A session as server-sent events. */
export function sessionStream(
  { hub }: Pick<RouteContext, "hub">,
  session: SessionRecord,
  options: StreamOptions,
): Answer {
  const { uid, sessionId } = session;
  return {
    status: 200,
    stream: {
      sessions: [session],
      start: (sink) => {
        const ending = new AbortController();
        const { signal } = ending;
        const ended = hub.deliver({ ...options, uid, sessionId, signal }, sink);
        return { ended: ended.then(() => undefined), end: (reason) => ending.abort(reason) };
      },
    },
  };
}

/** The position that a client names. What can't be one is none: its reader gets a snapshot, never an error. */
export function cursorOf(text: string | undefined): Cursor | undefined {
  return text === undefined || text === "" ? undefined : decodeCursor(text);
}

/** Follows a session from a cursor on, as a stream or as JSON. The header wins over the query. */
export const watchSession: RouteWork = async (context) => {
  const { hub, query, form: answerForm, waitMs, signal, limits } = context;
  const session = sessionOf(context);
  const { cursor: asked, budget, form } = query as EventsQuery; // of the route's shape
  const cursor = cursorOf(context.header("last-event-id") ?? asked);
  if (answerForm === "stream") return sessionStream(context, session, { cursor, budget, form });
  const { uid, sessionId } = session;
  const maxBytes = limits.answerBytes;
  const collected = await hub.collect({ uid, sessionId, cursor, budget, waitMs, signal, maxBytes });
  const headers = waitMs === 0 ? {} : { "preference-applied": `wait=${waitMs / 1_000}` };
  return { status: 200, headers, json: collected };
};

interface EventsQuery {
  readonly cursor?: string;
  readonly budget?: number;
  readonly form?: "whole";
}

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
