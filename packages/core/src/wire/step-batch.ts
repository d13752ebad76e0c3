import { readersDraft } from "../delta/draft.ts";
import type { Draft } from "../delta/draft.ts";
import type { Delta } from "../delta/delta.ts";
import { fold } from "../delta/fold.ts";
import { findPart } from "../delta/verify.ts";
import type { Batch } from "../event/batch.ts";
import { schemaVersion } from "../event/event.ts";
import type { LiveEvent } from "../event/event.ts";
import { openLane } from "../event/lane.ts";
import { findLane } from "../event/state.ts";
import type { OpenLane, SessionState } from "../event/state.ts";
import type { PartId } from "../ids.ts";
import { isJsonObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { part as partShape } from "./content-codec.ts";
import { delta as deltaShape } from "./delta-codec.ts";
import { batch, liveEvent } from "./event-codec.ts";
import { count, gap, id, malformed, text } from "./shape.ts";
import {
  eventTypes,
  isInId,
  impliedOfDelta,
  laneExecution,
  itemInLane,
  nextEpoch,
  streamedPart,
} from "./step-references.ts";
import type { LaneIds } from "./step-references.ts";

const ids = id<PartId>();

/** The batch that a step of a lane stands for. Throws for `decodeBy` what is malformed or not in step. */
export function batchOf(state: SessionState, step: JsonObject): Batch {
  const lane = step["lane"] === undefined ? 0 : count.decode(step["lane"], "lane");
  const { type } = step;
  if (type === "lane") return laneBatch(state, lane, step);
  const open = findLane(state, lane);
  if (open === undefined) return gap("lane");
  const { by = 1, seq } = step;
  const first = open.seq + 1;
  const last = open.seq + count.decode(by, "by");
  const isThere = seq === undefined ? isInId(state, lane) : seq === last;
  if (!isThere || last < first) return gap("seq");
  const events =
    type === "text"
      ? textEvents(open.draft, step["text"], "text")
      : longEvents(open, open.draft, type === "live" ? step["events"] : [step]);
  const { runId, turnId, itemId, epoch } = open;
  return {
    v: schemaVersion,
    sessionId: state.sessionId,
    runId,
    turnId,
    itemId,
    lane,
    epoch,
    first,
    last,
    head: state.head,
    time: open.time,
    events,
  };
}

/** A lane from 0. What is decoded as a whole batch is its opening; the rest follows it. */
function laneBatch(state: SessionState, lane: number, step: JsonObject): Batch {
  const { sessionId, head, run } = state;
  const { events, seq: last = 0 } = step;
  const known = Object.hasOwn(step, "author")
    ? {
        runId: run?.runId,
        turnId: run?.turn?.turnId,
        epoch: nextEpoch(state),
        itemId: itemInLane(state, lane),
      }
    : laneExecution(state, lane);
  const { epoch, runId, turnId, itemId, author, callId, tool, model, time } = {
    ...(known ?? gap("author")),
    ...step,
  } as Readonly<Record<string, unknown>>;
  if ([runId, turnId, itemId, epoch].includes(undefined)) return gap("runId");
  const base = { type: "batch", v: schemaVersion, sessionId, runId, turnId, itemId, lane, epoch };
  const opening = { type: "attempt_started", author, callId, tool, model };
  const opened = batch.decode({ ...base, first: 0, last, head, time, events: [opening] }, "");
  if (events === undefined) return opened;
  const place = openLane(opened, readersDraft) as OpenLane; // it begins with its opening
  return { ...opened, events: [...opened.events, ...longEvents(place, place.draft, events)] };
}

/** Live events as a batch has them. `draft` is the lane's, before them. */
function longEvents(place: LaneIds, draft: Draft, events: unknown): readonly LiveEvent[] {
  if (!Array.isArray(events) || events.length === 0) return malformed("events", "events");
  const out: LiveEvent[] = [];
  let current = draft;
  for (const [index, event] of (events as unknown[]).entries()) {
    for (const long of longEvent(place, current, event, `events[${index}]`)) {
      out.push(long);
      if (long.type === "content_delta") current = fold(current, long.delta);
    }
  }
  return out;
}

function longEvent(
  place: LaneIds,
  draft: Draft,
  event: unknown,
  path: string,
): readonly LiveEvent[] {
  if (!isJsonObject(event)) return malformed(path, "an object");
  const { type } = event;
  if (type === "text") return textEvents(draft, event["text"], `${path}.text`);
  if (!eventTypes.has(type)) return [liveEvent.decode(event, path)];
  const full = { ...impliedOfDelta(place, draft, type, event["kind"]), ...event } as JsonObject;
  if (full["partId"] === undefined) return gap(path);
  const isStreamed = type === "commit_part" && event["part"] === undefined;
  return [
    contentOf(
      isStreamed ? commitOf(draft, full, path) : deltaShape.decode({ ...full, op: type }, path),
    ),
  ];
}

/** The text of the newest part, or texts by their parts' ids. An id may be any key, also `__proto__`. */
function textEvents({ parts }: Draft, value: unknown, path: string): readonly LiveEvent[] {
  if (typeof value === "string") {
    const newest = parts.at(-1)?.id ?? gap(path);
    return [append(newest, value)];
  }
  const rows = isJsonObject(value) ? Object.entries(value) : [];
  if (rows.length === 0) return malformed(path, "a text");
  return rows.map(([key, chunk]) => append(ids.decode(key, path), text.decode(chunk, path)));
}

function append(part: PartId, chunk: string): LiveEvent {
  return contentOf({ op: "append_text", partId: part, chunk });
}

function contentOf(delta: Delta): LiveEvent {
  return { type: "content_delta", delta };
}

/** A commit of what was streamed, with the fields that the event names beside it. */
function commitOf(draft: Draft, event: JsonObject, path: string): Delta {
  const { type: _, partId: key, lane: __, by: ___, seq: ____, ...said } = event;
  const own = ids.decode(key, `${path}.partId`);
  const open = draft.parts[findPart(draft.parts, own)];
  if (open?.state !== "open") return gap(path);
  const made = streamedPart(open);
  // A fault is named of a text that is no object: of one that is, some text was lost.
  if ("fault" in said && "input" in made) return gap(path);
  const part = partShape.decode({ ...made, ...said, id: own }, path);
  return { op: "commit_part", partId: own, part };
}
