import type { SessionRecord } from "@millrace/core/ports";
import { dialectResponse, eventStreamType } from "../shared/dialect-response.ts";
import type { DialectStream } from "../shared/encode/dialect-encoding.ts";
import { eventText } from "./encode/response-writer.ts";
import { responseStream, ResponseEncoder } from "./encode/response-encoder.ts";
import type { RouteResponse, RouteContext } from "@millrace/server/dialect";
import { notFound } from "@millrace/server/dialect";
import { readSegment } from "./read-segment.ts";
import type { ReadSegment } from "./read-segment.ts";

/** The headers of every answer about a run. */
export function segmentHeaders({
  segment,
}: Pick<ReadSegment, "segment">): Readonly<Record<string, string>> {
  return {
    "millrace-run": segment.runId,
    "millrace-session": encodeURIComponent(segment.sessionId),
  };
}

/** A response as its events, after those that the reader has. */
export function responseEvents(
  context: RouteContext,
  session: SessionRecord,
  read: ReadSegment,
  after?: number,
): RouteResponse {
  const options = { segment: read.segment, facts: read.facts, after };
  const encoder = new ResponseEncoder(options);
  if (!encoder.isOver()) return segmentStream(context, session, read, responseStream(options));
  return storedStream(read, encoder.events().map(eventText).join(""));
}

/** A stream all of which is stored. */
export function storedStream(read: ReadSegment, text: string): RouteResponse {
  const headers = { ...segmentHeaders(read), ...eventStreamType };
  return { status: 200, headers, bytes: Buffer.from(text) };
}

/** A stream that goes on. The last fact is sent again: it brings what was stored before it. */
export function segmentStream(
  context: RouteContext,
  session: SessionRecord,
  read: ReadSegment,
  stream: DialectStream,
): RouteResponse {
  const head = (read.facts.at(-1)?.n ?? 1) - 1;
  return dialectResponse(context, session, head, stream, segmentHeaders(read));
}

/**
 * Reads a segment once it is over, or as it is when the client is gone, when the server drains or when the time is
 * over. Waiting costs a place in the hub's room, no poll of the store.
 */
export async function endedSegment(
  context: RouteContext,
  session: SessionRecord,
  ref: { readonly runId: string; readonly from: number },
  waitMs?: number,
): Promise<ReadSegment> {
  const { uid, sessionId } = session;
  const late = new AbortController();
  const end = (): void => late.abort();
  const { clock } = context;
  const inTime = waitMs === undefined ? end : clock.after(waitMs, end, { idle: true });
  const signal = AbortSignal.any([context.signal, late.signal]);
  try {
    for (;;) {
      const read = await readSegment(context, session, ref);
      if (read === undefined) throw notFound();
      const encoder = new ResponseEncoder(read);
      if (encoder.isOver() || signal.aborted) return read;
      const cursor = { uid, head: read.facts.at(-1)?.n ?? 0, lanes: [] };
      for await (const { message } of context.hub.watch({ uid, sessionId, cursor, signal })) {
        encoder.events(message);
        if (encoder.isOver()) break;
      }
      if (!encoder.isOver()) return (await readSegment(context, session, ref)) ?? read;
    }
  } finally {
    inTime();
  }
}
