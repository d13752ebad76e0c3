import { randomUUID } from "node:crypto";
import type { RunId } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { agUiStream } from "./encode/ag-ui-stream.ts";
import type { AgUiStreamOptions } from "./encode/ag-ui-stream.ts";
import type { AskedRun } from "./encode/ends.ts";
import { frameOf } from "./encode/events.ts";
import type { AgUiEvent } from "./encode/events.ts";
import { dialectEncoding } from "../shared/encode/dialect-encoding.ts";
import type { RouteResponse, RouteContext } from "@millrace/server/dialect";
import { blobUrlOf } from "../shared/blob-url-of.ts";
import { sessionStream } from "@millrace/server/dialect";
import type { RunBody } from "./body.ts";

const headers = { "content-type": "text/event-stream; charset=utf-8" };

/** For a reader so far behind that it gets a snapshot: a run's items are seldom larger. */
const budget = 32 * 1_024 * 1_024;

/** A run, from before its start, and what stands around it in its page. */
export type ShownRun = Pick<AgUiStreamOptions, "begin" | "before" | "after" | "live" | "head"> & {
  readonly runId: RunId;
  readonly results?: AgUiStreamOptions["results"];
};

/** A run as its stream. */
export function runAnswer(
  context: RouteContext,
  session: SessionRecord,
  run: ShownRun,
): RouteResponse {
  const { uid, sessionId } = session;
  const { runId, head } = run;
  const asked = askedRun(context.body as RunBody); // of the route's shape
  const blobUrl = blobUrlOf(context, session);
  const name = randomUUID();
  const stream = agUiStream({ results: new Map(), ...run, name, asked, blobUrl, uid, sessionId });
  const cursor = { uid, head, lanes: [] };
  const form = dialectEncoding(stream);
  const answer = sessionStream(context, session, { cursor, form, budget });
  return { ...answer, headers: { ...headers, "millrace-run": runId } };
}

/** An answer without a run to follow. */
export function plainAnswer(events: readonly AgUiEvent[]): RouteResponse {
  return { status: 200, headers, bytes: Buffer.from(events.map(frameOf).join("")) };
}

/** How the page names its run, and which version it reads. */
export function askedRun({ threadId, runId, parentRunId, protocolVersion }: RunBody): AskedRun {
  const isVersion1 = /^[1-9]\d*\.\d+$/.test(protocolVersion ?? "");
  return { threadId, runId, parentRunId, isVersion1 };
}
