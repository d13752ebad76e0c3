import type { SessionRecord } from "@millrace/core/ports";
import { dialectEncoding } from "../shared/encode/dialect-encoding.ts";
import type { DialectStream } from "../shared/encode/dialect-encoding.ts";
import { eventText } from "./encode/response-writer.ts";
import { responseStream, ResponseEncoder } from "./encode/response-encoder.ts";
import type { RouteResponse, RouteContext } from "@millrace/server/dialect";
import { notFound, sessionStream } from "@millrace/server/dialect";
import { readLeg } from "./read-leg.ts";
import type { ReadLeg } from "./read-leg.ts";

/** For a reader that gets a snapshot: a run's items are seldom larger. */
const budget = 32 * 1_024 * 1_024;

/** The headers of every answer about a run. */
export function legHeaders({ leg }: Pick<ReadLeg, "leg">): Readonly<Record<string, string>> {
  return { "millrace-run": leg.runId, "millrace-session": encodeURIComponent(leg.sessionId) };
}

/** A response as its events, after those that the reader has. */
export function responseEvents(
  context: RouteContext,
  session: SessionRecord,
  read: ReadLeg,
  after?: number,
): RouteResponse {
  const options = { leg: read.leg, facts: read.facts, after };
  const voice = new ResponseEncoder(options);
  if (!voice.isOver()) return legStream(context, session, read, responseStream(options));
  return storedStream(read, voice.events().map(eventText).join(""));
}

/** A stream all of which is stored. */
export function storedStream(read: ReadLeg, text: string): RouteResponse {
  const headers = { ...legHeaders(read), "content-type": "text/event-stream; charset=utf-8" };
  return { status: 200, headers, bytes: Buffer.from(text) };
}

/** A stream that goes on. The last fact is sent again: it brings what was stored before it. */
export function legStream(
  context: RouteContext,
  session: SessionRecord,
  read: ReadLeg,
  stream: DialectStream,
): RouteResponse {
  const { uid } = session;
  const head = (read.facts.at(-1)?.n ?? 1) - 1;
  const form = dialectEncoding(stream);
  const answer = sessionStream(context, session, {
    cursor: { uid, head, lanes: [] },
    form,
    budget,
  });
  const type = { "content-type": "text/event-stream; charset=utf-8" };
  return { ...answer, headers: { ...legHeaders(read), ...type } };
}

/**
 * Reads a leg once it is over, or as it is when the client is gone, when the server drains or when the time is
 * over. Waiting costs a place in the hub's room, no poll of the store.
 */
export async function endedLeg(
  context: RouteContext,
  session: SessionRecord,
  ref: { readonly runId: string; readonly from: number },
  waitMs?: number,
): Promise<ReadLeg> {
  const { uid, sessionId } = session;
  const limit = waitMs === undefined ? [] : [AbortSignal.timeout(waitMs)];
  const signal = AbortSignal.any([context.signal, ...limit]);
  for (;;) {
    const read = await readLeg(context, session, ref);
    if (read === undefined) throw notFound();
    const voice = new ResponseEncoder(read);
    if (voice.isOver() || signal.aborted) return read;
    const cursor = { uid, head: read.facts.at(-1)?.n ?? 0, lanes: [] };
    for await (const { message } of context.hub.watch({ uid, sessionId, cursor, signal })) {
      voice.events(message);
      if (voice.isOver()) break;
    }
    if (!voice.isOver()) return (await readLeg(context, session, ref)) ?? read;
  }
}
