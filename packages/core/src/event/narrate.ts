import type { Delta } from "../delta/delta.ts";
import { readersDraft } from "../delta/draft.ts";
import type { Draft } from "../delta/draft.ts";
import { fold, foldAll } from "../delta/fold.ts";
import type { InputId } from "../ids.ts";
import { apply } from "./apply.ts";
import type { Batch } from "./batch.ts";
import type { Fact, FactOf, LiveEvent } from "./event.ts";
import { missing, narrateDelta, narrateDeltas } from "./narrate-draft.ts";
import type { Narration } from "./narration.ts";
import { findLane } from "./state.ts";
import type { OpenLane, SessionState } from "./state.ts";
import { outputOf } from "./tool-output.ts";

/**
 * What a fact or batch adds to the narration, given the state before it. Nothing for what `apply`
 * would not apply, so doubled and stale messages are narrated once.
 */
export function narrate(state: SessionState, message: Fact | Batch): readonly Narration[] {
  const applied = apply(state, message);
  if (applied.verdict !== "applied") return [];
  return "n" in message
    ? narrateFact(state, applied.state, message)
    : narrateBatch(state, applied.state, message);
}

function narrateFact(before: SessionState, after: SessionState, fact: Fact): readonly Narration[] {
  switch (fact.type) {
    case "run_started":
      return [{ type: "run_started", runId: fact.runId }];
    case "turn_started":
      return [{ type: "turn_started", turnId: fact.turnId }];
    case "turn_finished": {
      const id = after.run?.turn?.reply;
      const reply = after.items.at(after.items.findLastIndex((item) => item.id === id));
      const { turnId, stop } = fact;
      return [
        ...voided(before, after),
        {
          type: "turn_finished",
          turnId,
          stop,
          ...(id === undefined || reply === undefined ? {} : { reply }),
        },
      ];
    }
    case "run_finished":
      return [...voided(before, after), runFinished(fact)];
    case "item_committed":
      return [
        ...narrateRest(before, fact),
        { type: "item_committed", item: fact.item },
        ...queueAfter(after, fact.inputId),
      ];
    case "item_replaced":
      return [{ type: "item_replaced", item: fact.item }, ...queueAfter(after, fact.inputId)];
    case "input_accepted":
      return fact.input.kind === "abort" ? [] : queueAfter(after, fact.inputId);
    case "queue_updated":
      return queueAfter(after, fact.inputId);
    case "tool_execution_started": {
      const { callId, tool, input } = fact;
      return [{ type: "tool_execution_started", callId, tool, input }];
    }
    case "tool_execution_finished": {
      const { type, callId, tool, status } = fact;
      const output = outputOf(before, fact);
      const returned = output === undefined ? {} : { output };
      return [{ type, callId, tool, status, isError: status !== "ok", ...returned }];
    }
    case "approval_requested": {
      const { type, approvalId, callId, tool, input, parsed } = fact;
      const changed = parsed === undefined ? {} : { parsed };
      return [{ type, approvalId, callId, tool, input, ...changed }];
    }
    case "approval_resolved": {
      const { approvalId, callId, decision } = fact;
      return [{ type: "approval_resolved", approvalId, callId, decision }];
    }
    case "compaction_started":
    case "compaction_finished":
      return [{ type: fact.type }];
    case "session_claimed": {
      const { resumes: runId } = fact;
      const over = voided(before, after);
      return runId === undefined ? over : [...over, { type: "run_resumed", runId }];
    }
    case "session_released":
      return [{ type: "run_released", runId: fact.runId, reason: fact.reason }];
    case "usage_reported":
    case "guidance_set":
    case "part_left_out":
    case "opaque":
      return [];
    case "notice":
    case "prefix_broken":
    case "reasoning_dropped":
      return [noticeOf(fact)];
    default:
      fact satisfies never;
      return [];
  }
}

function noticeOf(fact: FactOf<"notice" | "prefix_broken" | "reasoning_dropped">): Narration {
  if (fact.type === "notice") return { type: "notice", code: fact.code, message: fact.message };
  if (fact.type === "prefix_broken") {
    const message = `the vendor's cache is missed: ${fact.reason}`;
    return { type: "notice", code: "prefix_changed", message };
  }
  const message = `earlier reasoning is not sent any more (${fact.reason})`;
  return { type: "notice", code: "reasoning_dropped", message };
}

/** Drafts that were narrated and become no item: their lanes were closed from outside. */
function voided(before: SessionState, after: SessionState): readonly Narration[] {
  return before.lanes
    .filter(({ lane }) => findLane(after, lane) === undefined)
    .map(({ itemId }) => ({ type: "attempt_superseded", itemId }));
}

function runFinished(fact: FactOf<"run_finished">): Narration {
  const { type, runId } = fact;
  if (fact.outcome === "limited") return { type, runId, outcome: "limited", limit: fact.limit };
  if (fact.outcome === "failed") return { type, runId, outcome: "failed", cause: fact.cause };
  return { type, runId, outcome: fact.outcome };
}

/**
 * What of a committed item has not been narrated yet: its writer's last batch may have been lost, or
 * the reader disconnected. So the narration of an item is always complete.
 */
function narrateRest(
  before: SessionState,
  { item, epoch }: FactOf<"item_committed">,
): readonly Narration[] {
  if (item.author === "user") return [];
  const commits = item.parts.map((part): Delta => ({ op: "commit_part", partId: part.id, part }));
  const lane = before.lanes.find((open) => open.itemId === item.id);
  const known = lane !== undefined && lane.epoch === epoch ? lane.draft : readersDraft;
  const rest = narrateDeltas(item.id, known, missing(known, foldAll(readersDraft, commits)));
  const superseded = lane !== undefined && lane.epoch !== epoch;
  return superseded ? [{ type: "attempt_superseded", itemId: item.id }, ...rest] : rest;
}

function queueAfter(after: SessionState, changed: InputId | undefined): readonly Narration[] {
  if (changed === undefined) return [];
  return [{ type: "queue_updated", queue: after.queue.map((queued) => queued.inputId) }];
}

function narrateBatch(
  before: SessionState,
  after: SessionState,
  batch: Batch,
): readonly Narration[] {
  const known = findLane(before, batch.lane);
  const lane = findLane(after, batch.lane) as OpenLane; // the batch has just been applied to it
  if (batch.first > 0) return narrateEvents(lane, known?.draft ?? readersDraft, batch);
  if (known?.epoch === batch.epoch) {
    // Restated from 0: only what was missing is new.
    const rest = narrateDeltas(lane.itemId, known.draft, missing(known.draft, lane.draft));
    const news = batch.events.filter(
      (event) => event.type !== "content_delta" && isNews(known, event),
    );
    return [...rest, ...narrateEvents(lane, lane.draft, { ...batch, events: news })];
  }
  const narrations = narrateEvents(lane, readersDraft, batch);
  return known === undefined
    ? narrations
    : [{ type: "attempt_superseded", itemId: known.itemId }, ...narrations];
}

/** Whether an event of a restated lane, other than its content, was not known. */
function isNews(known: OpenLane, event: LiveEvent): boolean {
  switch (event.type) {
    case "tool_execution_update":
      return event.message !== known.message;
    case "stalled":
      return event.silentMs !== known.stalledMs;
    case "retry_scheduled":
      return known.retry === undefined;
    case "attempt_started":
    case "content_delta":
    case "lane_idled":
    case "opaque":
      return false;
    default:
      event satisfies never;
      return false;
  }
}

function narrateEvents(lane: OpenLane, draft: Draft, batch: Batch): readonly Narration[] {
  const { itemId, tool } = lane;
  const narrations: Narration[] = [];
  let current = draft;
  for (const event of batch.events) {
    if (event.type === "content_delta") {
      narrations.push(...narrateDelta(itemId, current, event.delta));
      current = fold(current, event.delta);
    } else if (event.type === "tool_execution_update") {
      narrations.push({
        type: event.type,
        callId: event.callId,
        tool: tool ?? "",
        message: event.message,
      });
    } else if (event.type === "retry_scheduled") {
      narrations.push({ type: event.type, itemId, cause: event.cause, delayMs: event.delayMs });
    } else if (event.type === "stalled") {
      narrations.push({ type: event.type, itemId, silentMs: event.silentMs });
    }
  }
  return narrations;
}
