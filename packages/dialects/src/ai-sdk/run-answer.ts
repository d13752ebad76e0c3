import type { RunId } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import type { Profile } from "./encode/profiles.ts";
import { uiMessageStream } from "./encode/ui-message-stream.ts";
import type { RouteResponse, RouteContext } from "@millrace/server/dialect";
import { blobUrlOf } from "../shared/blob-url-of.ts";
import { dialectResponse, eventStreamType } from "../shared/dialect-response.ts";

/** The headers of the dialect's streams. Those of every event stream are set when it opens. */
export const streamHeaders: Readonly<Record<string, string>> = {
  ...eventStreamType,
  "x-vercel-ai-ui-message-stream": "v1",
};

/** A run, from before its start. */
export interface StreamedRun {
  readonly runId: RunId;
  readonly head: number;
  /** The session's head when the request came. */
  readonly live: number;
  /** The fact up to which the page has it. */
  readonly receivedTo?: number | undefined;
}

/** A run as its stream. */
export function runAnswer(
  profile: Profile,
  context: RouteContext,
  session: SessionRecord,
  { runId, head, live, receivedTo }: StreamedRun,
): RouteResponse {
  const { uid, sessionId } = session;
  const run = { uid, sessionId, runId, head, live, receivedTo };
  const blobUrl = blobUrlOf(context, session);
  const stream = uiMessageStream({ ...run, profile, blobUrl });
  return dialectResponse(context, session, head, stream, {
    ...streamHeaders,
    "millrace-run": runId,
  });
}
