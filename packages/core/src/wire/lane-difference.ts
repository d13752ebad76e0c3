import type { Delta } from "../delta/delta.ts";
import { readersDraft, textOf } from "../delta/draft.ts";
import type { DraftPart, OpenPart } from "../delta/draft.ts";
import { restate } from "../delta/restate.ts";
import type { Batch } from "../event/batch.ts";
import type { LiveEvent } from "../event/event.ts";
import { continueLane, openLane } from "../event/lane.ts";
import type { OpenLane } from "../event/state.ts";
import { same } from "./same.ts";

/**
 * The events that bring a reader's lane to what a batch from 0 makes of it; none at all are given as
 * `lane_idled`. Undefined if it is not more of the same: then the lane is sent from 0. What is given was
 * tried, so it is right by construction. Linear in the lane.
 */
export function laneDifference(before: OpenLane, batch: Batch): readonly LiveEvent[] | undefined {
  const opened = openLane(batch, readersDraft);
  if (opened === undefined) return undefined;
  const after = continueLane(opened, batch.events);
  const events: LiveEvent[] = after.draft.parts
    .flatMap((part, at) => partDifference(before.draft.parts[at], part))
    .map((delta) => ({ type: "content_delta", delta }));
  const { callId, message, retry, stalledMs } = after;
  if (message !== undefined && message !== before.message && callId !== undefined)
    events.push({ type: "tool_execution_update", callId, message });
  if (retry !== undefined && !same(retry, before.retry))
    events.push({ type: "retry_scheduled", ...retry });
  if (stalledMs !== undefined) events.push({ type: "stalled", silentMs: stalledMs });
  if (events.length === 0) events.push({ type: "lane_idled" });
  return same(shown(continueLane(before, events)), shown(after)) ? events : undefined;
}

/** What of a lane a batch from 0 changes. */
function shown({ draft, ...lane }: OpenLane): object {
  return { ...lane, seq: 0, time: 0, deltas: restate(draft), fault: draft.fault };
}

/** The deltas from one state of a part to a later one, or some that don't lead there. */
function partDifference(old: DraftPart | undefined, part: DraftPart): readonly Delta[] {
  if (old === undefined) {
    return part.state === "open"
      ? restate({ ...readersDraft, parts: [part] })
      : [{ op: "commit_part", partId: part.id, part: part.part }];
  }
  if (old.state === "committed") return [];
  if (part.state === "open") return openDifference(old, part);
  // What was not streamed goes before the commit, which then is as streamed.
  const text = "raw" in part.part ? part.part.raw : "text" in part.part ? part.part.text : "";
  return [...textDifference(old, text), { op: "commit_part", partId: part.id, part: part.part }];
}

function openDifference(old: OpenPart, { id: partId, ...part }: OpenPart): readonly Delta[] {
  const deltas = [...textDifference(old, textOf({ id: partId, ...part }))];
  const { value, metadata } = part;
  if (value !== undefined && !same(value, old.value))
    deltas.push({ op: "replace_structured", partId, value });
  if (metadata !== undefined && !same(metadata, old.metadata))
    deltas.push({ op: "set_metadata", partId, metadata });
  return deltas;
}

function textDifference(old: OpenPart, text: string): Delta[] {
  const had = textOf(old);
  if (text.length <= had.length || !text.startsWith(had)) return [];
  return [{ op: "append_text", partId: old.id, chunk: text.slice(had.length) }];
}
