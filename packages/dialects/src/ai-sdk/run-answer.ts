import type { RunId } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { dialectEncoding } from "../shared/encode/dialect-encoding.ts";
import type { Profile } from "./encode/profiles.ts";
import { uiMessageStream } from "./encode/ui-message-stream.ts";
import type { RouteResponse, RouteContext } from "@millrace/server/dialect";
import { blobUrlOf } from "../shared/blob-url-of.ts";
import { sessionStream } from "@millrace/server/dialect";

/** The headers of the dialect's streams. Those of every event stream are set when it opens. */
export const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "x-vercel-ai-ui-message-stream": "v1",
};

/** For a reader so far behind that it gets a snapshot: a run's items are seldom larger. */
const budget = 32 * 1_024 * 1_024;

/** A run, from before its start. */
export interface ShownRun {
  readonly runId: RunId;
  readonly head: number;
  /** The session's head when the request came. */
  readonly live: number;
  /** The fact up to which the page has it. */
  readonly known?: number | undefined;
}

/** A run as its stream. */
export function runAnswer(
  profile: Profile,
  context: RouteContext,
  session: SessionRecord,
  { runId, head, live, known }: ShownRun,
): RouteResponse {
  const { uid, sessionId } = session;
  const run = { uid, sessionId, runId, head, live, known };
  const blobUrl = blobUrlOf(context, session);
  const form = dialectEncoding(uiMessageStream({ ...run, profile, blobUrl }));
  const cursor = { uid, head, lanes: [] };
  const answer = sessionStream(context, session, { cursor, form, budget });
  return { ...answer, headers: { ...streamHeaders, "millrace-run": runId } };
}
