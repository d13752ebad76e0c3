import type { RunId } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { agUiStream } from "./encode/ag-ui-stream.ts";
import type { AgUiStreamOptions } from "./encode/ag-ui-stream.ts";
import type { AskedRun } from "./encode/ends.ts";
import { frameOf } from "./encode/events.ts";
import type { AgUiEvent } from "./encode/events.ts";
import type { RouteResponse, RouteContext } from "@millrace/server/dialect";
import { blobUrlOf } from "../shared/blob-url-of.ts";
import { dialectResponse, eventStreamType } from "../shared/dialect-response.ts";
import type { RunBody } from "./body.ts";

/** A run, from before its start, and what stands around it in its page. */
export type StreamedRun = Pick<
  AgUiStreamOptions,
  "begin" | "before" | "after" | "live" | "head"
> & {
  readonly runId: RunId;
  readonly results?: AgUiStreamOptions["results"];
};

/** A run as its stream. */
export function runAnswer(
  context: RouteContext,
  session: SessionRecord,
  run: StreamedRun,
): RouteResponse {
  const { uid, sessionId } = session;
  const { runId, head } = run;
  const asked = askedRun(context.body as RunBody); // of the route's shape
  const blobUrl = blobUrlOf(context, session);
  const name = context.uniqueName();
  const stream = agUiStream({ results: new Map(), ...run, name, asked, blobUrl, uid, sessionId });
  return dialectResponse(context, session, head, stream, { "millrace-run": runId });
}

/** An answer without a run to follow. */
export function plainAnswer(events: readonly AgUiEvent[]): RouteResponse {
  return {
    status: 200,
    headers: eventStreamType,
    bytes: Buffer.from(events.map(frameOf).join("")),
  };
}

/** How the page names its run, and which version it reads. */
export function askedRun({ threadId, runId, parentRunId, protocolVersion }: RunBody): AskedRun {
  const isVersion1 = /^[1-9]\d*\.\d+$/.test(protocolVersion ?? "");
  return { threadId, runId, parentRunId, isVersion1 };
}
