import { eventText } from "../../../packages/dialects/src/openai/encode/response-writer.ts";
import type { ResponseEvent } from "../../../packages/dialects/src/openai/encode/response-writer.ts";
import { ResponseEncoder } from "../../../packages/dialects/src/openai/encode/response-encoder.ts";
import { factsAt } from "./segments.ts";
import type { WatchedSegment } from "./segments.ts";
import { asJson, eventAnswer, openaiWith } from "./openai.ts";
import { sentAt, snapshotAt } from "./sessions.ts";
import type { WatchedRun, WatchedSession } from "./sessions.ts";

/** The response of a segment by what is stored, and all its events. */
export function storedResponse(
  { segment, facts }: WatchedSegment,
  after?: number,
): { readonly events: readonly ResponseEvent[]; readonly json: unknown } {
  const voice = new ResponseEncoder({ segment, facts, after });
  return { events: voice.events(), json: asJson(voice.json()) };
}

/** The events that a reader is sent who comes at a place of the session and reads to the end. */
export function liveEvents(
  session: WatchedSession,
  run: WatchedRun,
  watched: WatchedSegment,
  { from, until = Infinity, after, slow, lag = 0, hasSnapshot = false }: LiveWay,
): readonly ResponseEvent[] {
  const { states, messages } = session;
  const voice = new ResponseEncoder({
    segment: watched.segment,
    facts: factsAt(session, watched, from),
    after,
  });
  const events = [...voice.events()];
  const catchUp = (place: number, head: number): void => {
    for (const message of sentAt(session, place, head)) events.push(...voice.events(message));
  };
  const hubAt = Math.max(0, from - lag);
  if (hasSnapshot) events.push(...voice.events(snapshotAt(session, hubAt)));
  else catchUp(hubAt, Math.max(0, (states[hubAt]?.head ?? 1) - 1));
  const [begin, end] = slow ?? [Infinity, Infinity];
  for (let at = hubAt; at <= run.last && at < until && !voice.isOver(); at += 1) {
    if (at >= begin && at < end) continue;
    if (at === end && begin < at) catchUp(at, states[begin]?.head ?? 0);
    const message = messages[at];
    if (message !== undefined) events.push(...voice.events(message));
  }
  return events;
}

/** How a reader comes to a response. */
export interface LiveWay {
  /** The place of the session at which it opens its stream. */
  readonly from: number;
  /** The place at which its stream is cut. Left out: it reads to the end. */
  readonly until?: number | undefined;
  /** So many messages the log is behind the store in the process that it comes to. */
  readonly lag?: number | undefined;
  /** The number of the last event that it has. */
  readonly after?: number | undefined;
  /** Between these places it is sent nothing. */
  readonly slow?: readonly [number, number] | undefined;
  /** Whether it is sent a snapshot first: its process has just begun to follow the session. */
  readonly hasSnapshot?: boolean | undefined;
}

/** Events with each text in one piece, numbered by its last character. */
export function merged(events: readonly ResponseEvent[]): readonly ResponseEvent[] {
  const out: ResponseEvent[] = [];
  for (const event of events) {
    const last = out.at(-1);
    const isGrown = last?.["delta"] !== undefined && event["delta"] !== undefined;
    if (isGrown && last.type === event.type && last["item_id"] === event["item_id"])
      out[out.length - 1] = {
        ...event,
        delta: `${String(last["delta"])}${String(event["delta"])}`,
      };
    else out.push(event);
  }
  return out;
}

/** What the library makes of a stream. */
export async function heldResponse(events: readonly ResponseEvent[]): Promise<unknown> {
  const client = openaiWith(() => eventAnswer(`: a comment\n\n${events.map(eventText).join("")}`));
  return withoutParsed(asJson(await client.responses.stream({ input: "x" }).finalResponse()));
}

/** Without what the library adds to a response for its callers. */
export function withoutParsed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutParsed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) =>
      ["parsed", "output_parsed", "parsed_arguments", "output_text"].includes(name)
        ? []
        : [[name, withoutParsed(each)]],
    ),
  );
}
