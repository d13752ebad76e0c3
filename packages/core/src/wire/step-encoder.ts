import { encode } from "./encode.ts";
import { isAfter } from "../event/batch.ts";
import type { Batch } from "../event/batch.ts";
import type { Fact } from "../event/event.ts";
import { readersDraft } from "../delta/draft.ts";
import { openLane } from "../event/lane.ts";
import { closedEpoch, findLane } from "../event/state.ts";
import type { OpenLane, SessionState } from "../event/state.ts";
import type { JsonObject } from "../json.ts";
import { liveEvent } from "./event-codec.ts";
import { laneDifference } from "./lane-difference.ts";
import { same } from "./same.ts";
import { shortEvents } from "./step-events.ts";
import { factStep } from "./step-fact.ts";
import { isInId, isOfLane, laneExecution, itemInLane, nextEpoch } from "./step-references.ts";

/**
 * A message as steps: lines of JSON for a reader whose state is `before`, which is told nothing that it
 * has. They go into one event, whose id is the cursor after the last of them; so do the steps of messages
 * that follow, if they are sent together. Every message that `apply` takes in that state can be one. Undefined for a message that is not
 * the next one: its reader is not in step, and joins. A step of text costs about as much as its
 * `JSON.stringify`; a commit is compared with what was streamed, which is linear in it.
 */
export function encodeStep(before: SessionState, message: Fact | Batch): string | undefined {
  if ("n" in message) {
    const undoes = message.type === "session_claimed" && message.to !== undefined;
    if (undoes || message.n !== before.head + 1) return undefined;
    return JSON.stringify(factStep(before, message));
  }
  if (message.head > before.head) return undefined;
  const open = findLane(before, message.lane);
  if (message.first === 0) {
    const { epoch, last, lane } = message;
    const isNext = open === undefined || isAfter({ epoch, seq: last }, open.epoch, open.seq);
    if (!isNext || epoch <= closedEpoch(before, lane)) return undefined;
    return fromZero(before, open, message);
  }
  if (open?.epoch !== message.epoch || message.first !== open.seq + 1) return undefined;
  const isCounted = isInId(before, message.lane);
  return (isCounted ? textStep(open, message) : undefined) ?? liveSteps(before, open, message);
}

/** What nearly every step is, text for the newest part of a lane, is written without making objects. */
function textStep({ draft }: OpenLane, { lane, first, last, events }: Batch): string | undefined {
  const newest = draft.parts.at(-1)?.id;
  let text = "";
  for (const event of events) {
    if (event.type !== "content_delta" || event.delta.op !== "append_text") return undefined;
    if (event.delta.partId !== newest) return undefined;
    text += event.delta.chunk;
  }
  const at = lane === 0 ? "" : `,"lane":${lane}`;
  const by = first === last ? "" : `,"by":${last - first + 1}`;
  return `{"type":"text"${at}${by},"text":${JSON.stringify(text)}}`;
}

/**
 * More of an open lane: a step for each event, or one for all if there are more events than numbers. With
 * its number only where the id may not have it.
 */
function liveSteps(
  before: SessionState,
  open: OpenLane,
  { lane, last, events }: Pick<Batch, "lane" | "last" | "events">,
): string {
  const short = shortEvents(open, open.draft, events);
  const isCounted = isInId(before, lane);
  let left = last - open.seq;
  let seq = open.seq;
  const step = ({ type, ...fields }: JsonObject, by: number): string => {
    seq += by;
    const place = { ...(lane === 0 ? {} : { lane }), ...(by === 1 ? {} : { by }) };
    return JSON.stringify({ type, ...place, ...(isCounted ? {} : { seq }), ...fields });
  };
  if (left < events.length)
    return step({ type: "live", events: short.map(({ event }) => event) }, left);
  const lines = short.map(({ event, by }, at) => {
    const isLast = at === short.length - 1;
    const numbers = isLast ? left : by;
    left -= by;
    const isStep = isOfLane(event["type"]);
    return step(isStep ? event : { type: "live", events: [event] }, numbers);
  });
  return lines.join("\n");
}

/** A lane that opens, or that is restated: then only what the reader has not got, if that can be said. */
function fromZero(before: SessionState, open: OpenLane | undefined, batch: Batch): string {
  if (open?.epoch === batch.epoch) {
    const events = laneDifference(open, batch);
    if (events !== undefined) return liveSteps(before, open, { ...batch, events });
  }
  const { lane, last } = batch;
  const opened = openLane(batch, readersDraft);
  const short = opened && shortEvents(opened, opened.draft, batch.events.slice(1));
  const events = short?.map(({ event }) => event) ?? [];
  return JSON.stringify({
    type: "lane",
    ...(lane === 0 ? {} : { lane }),
    ...openingOf(before, batch),
    ...(last === 0 ? {} : { seq: last }),
    ...(events.length === 0 ? {} : { events }),
  });
}

/** Nothing, if it is the lane of an execution that is on; without ids that are those of the next writer. */
function openingOf(before: SessionState, batch: Batch): JsonObject {
  const { lane, epoch, runId, turnId, itemId, time, events } = batch;
  const [opening] = events;
  const { type: _, ...opened } = opening === undefined ? {} : encode(liveEvent, opening);
  const all = { epoch, runId, turnId, itemId, ...opened };
  const execution = laneExecution(before, lane);
  if (execution !== undefined && same({ ...execution, time }, { time, ...all })) return {};
  const { run } = before;
  const isHere = run?.runId === runId && run.turn?.turnId === turnId;
  return {
    ...(epoch === nextEpoch(before) ? {} : { epoch }),
    ...(isHere ? {} : { runId, turnId }),
    ...(itemId === itemInLane(before, lane) ? {} : { itemId }),
    ...opened,
    time,
  };
}
