import type { SessionRecord } from "@millrace/core/ports";
import { sessionStream } from "@millrace/server/dialect";
import type { RouteContext, RouteResponse } from "@millrace/server/dialect";
import { dialectEncoding } from "./encode/dialect-encoding.ts";
import type { DialectStream } from "./encode/dialect-encoding.ts";

/** For a reader so far behind that it gets a snapshot: a run's items are seldom larger. */
const budget = 32 * 1_024 * 1_024;

/** The type of every stream, also of one all of which is stored. */
export const eventStreamType: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
};

/** What follows a fact of the session, as the stream of a dialect. */
export function dialectResponse(
  context: RouteContext,
  session: SessionRecord,
  head: number,
  stream: DialectStream,
  headers: Readonly<Record<string, string>> = {},
): RouteResponse {
  const cursor = { uid: session.uid, head, lanes: [] };
  const form = dialectEncoding(stream);
  const response = sessionStream(context, session, { cursor, form, budget });
  return { ...response, headers: { ...eventStreamType, ...headers } };
}
