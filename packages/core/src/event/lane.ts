import type { Delta } from "../delta/delta.ts";
import type { Draft } from "../delta/draft.ts";
import { foldAll } from "../delta/fold.ts";
import { restate } from "../delta/restate.ts";
import type { SessionId } from "../ids.ts";
import type { Batch } from "./batch.ts";
import { schemaVersion } from "./event.ts";
import type { LiveEvent } from "./event.ts";
import type { OpenLane } from "./state.ts";

/** A lane with its opening alone and an empty draft, or undefined if the batch does not open one. */
export function openLane(batch: Batch, draft: Draft): OpenLane | undefined {
  const { lane, epoch, last: seq, time, runId, turnId, itemId } = batch;
  const opening = batch.events[0];
  if (opening?.type !== "attempt_started") return undefined;
  const { author, callId, tool, model } = opening;
  return {
    lane,
    epoch,
    seq,
    time,
    runId,
    turnId,
    itemId,
    author,
    callId,
    tool,
    model,
    draft,
    message: undefined,
    stalledMs: undefined,
    retry: undefined,
  };
}

/** What events make of their lane. Its writer and its readers use this one function. */
export function continueLane(lane: OpenLane, events: readonly LiveEvent[]): OpenLane {
  const deltas: Delta[] = [];
  let { message, stalledMs, retry } = lane;
  for (const event of events) {
    switch (event.type) {
      case "content_delta":
        deltas.push(event.delta);
        stalledMs = undefined;
        break;
      case "tool_execution_update":
        // Progress is a tool's: a lane that answers no call could not restate it.
        if (lane.callId !== undefined) ({ message } = event);
        stalledMs = undefined;
        break;
      case "retry_scheduled":
        retry = { cause: event.cause, delayMs: event.delayMs };
        break;
      case "stalled":
        stalledMs = event.silentMs;
        break;
      case "attempt_started":
      case "lane_idled":
      case "opaque":
        break;
      default:
        event satisfies never;
    }
  }
  return { ...lane, draft: foldAll(lane.draft, deltas), message, stalledMs, retry };
}

/** All of a lane so far, as one batch from 0. Snapshot and re-seed are this same thing. */
export function restateLane(
  lane: OpenLane,
  reader: { readonly sessionId: SessionId; readonly head: number },
): Batch {
  const { author, callId, tool, model, message, stalledMs, retry } = lane;
  const events: LiveEvent[] = [
    {
      type: "attempt_started",
      author,
      ...(callId === undefined ? {} : { callId }),
      ...(tool === undefined ? {} : { tool }),
      ...(model === undefined ? {} : { model }),
    },
    ...restate(lane.draft).map((delta) => ({ type: "content_delta" as const, delta })),
  ];
  if (message !== undefined && callId !== undefined) {
    events.push({ type: "tool_execution_update", callId, message });
  }
  if (retry !== undefined) events.push({ type: "retry_scheduled", ...retry });
  if (stalledMs !== undefined) events.push({ type: "stalled", silentMs: stalledMs });
  return {
    v: schemaVersion,
    sessionId: reader.sessionId,
    runId: lane.runId,
    turnId: lane.turnId,
    itemId: lane.itemId,
    lane: lane.lane,
    epoch: lane.epoch,
    first: 0,
    last: lane.seq,
    head: reader.head,
    time: lane.time,
    events,
  };
}
