import type { RouteWork } from "../http/route-context.ts";
import { sessionOf } from "./common.ts";
import { cursorOf, sessionStream } from "./session-stream.ts";

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
