import type { ArgumentFault } from "../content/arguments.ts";
import type { Cause, Item } from "../content/item.ts";
import type { Part, ResultStatus } from "../content/part.ts";
import { emptyDraft, noDraftLimits, textOf } from "../delta/draft.ts";
import type { Draft, DraftPart } from "../delta/draft.ts";
import type { Delta } from "../delta/delta.ts";
import { fold, foldAll } from "../delta/fold.ts";
import { restate } from "../delta/restate.ts";
import { findPart } from "../delta/verify.ts";
import type { ApprovalId, CallId, InputId, ItemId, PartId, RunId, TurnId } from "../ids.ts";
import type { JsonObject } from "../json.ts";
import { apply } from "./apply.ts";
import type { Batch } from "./batch.ts";
import type { Fact, FactOf, RunOutcome } from "./event.ts";
import { findLane } from "./state.ts";
import type { OpenLane, SessionState } from "./state.ts";

/** The flat story of a session, for terminals, logs and tests. A view of the events, not a second truth. */
export type Narration =
  | { readonly type: "run_started"; readonly runId: RunId }
  | { readonly type: "turn_started"; readonly turnId: TurnId }
  | TextNarration<"assistant_text_delta">
  | TextNarration<"reasoning_delta">
  | ToolNarration<"tool_call_started">
  | (ToolNarration<"tool_call_arguments_delta"> & { readonly text: string })
  | (ToolNarration<"tool_call_ready"> & { readonly input: JsonObject })
  /** The arguments can't be used; the call will not run. */
  | (ToolNarration<"tool_call_refused"> & { readonly fault: ArgumentFault })
  | (ToolNarration<"tool_execution_started"> & { readonly input: JsonObject })
  | (ToolNarration<"tool_execution_update"> & { readonly message: string })
  | (ToolNarration<"tool_output_delta"> & { readonly text: string })
  | (ToolNarration<"tool_execution_finished"> & {
      readonly status: ResultStatus;
      readonly isError: boolean;
    })
  | (ToolNarration<"approval_requested"> & {
      readonly approvalId: ApprovalId;
      readonly input: JsonObject;
    })
  | {
      readonly type: "approval_resolved";
      readonly approvalId: ApprovalId;
      readonly callId: CallId;
      readonly decision: "allow" | "deny";
    }
  /** All text of this item so far is void: another attempt writes it anew. */
  | { readonly type: "attempt_superseded"; readonly itemId: ItemId }
  | {
      readonly type: "retry_scheduled";
      readonly itemId: ItemId;
      readonly cause: Cause;
      readonly delayMs: number;
    }
  | { readonly type: "stalled"; readonly itemId: ItemId; readonly silentMs: number }
  | { readonly type: "item_committed"; readonly item: Item }
  | { readonly type: "item_replaced"; readonly item: Item }
  | { readonly type: "queue_updated"; readonly queue: readonly InputId[] }
  | { readonly type: "compaction_started" }
  | { readonly type: "compaction_finished" }
  /** `reply` is the model's item of this turn. */
  | {
      readonly type: "turn_finished";
      readonly turnId: TurnId;
      readonly stop: Item["stop"];
      readonly reply: Item | undefined;
    }
  | ({ readonly type: "run_finished"; readonly runId: RunId } & RunOutcome);

interface TextNarration<Type extends string> {
  readonly type: Type;
  readonly itemId: ItemId;
  readonly partId: PartId;
  readonly text: string;
}

interface ToolNarration<Type extends string> {
  readonly type: Type;
  readonly callId: CallId;
  readonly tool: string;
}

/**
 * Tells what a fact or batch adds to the story, given the state before it. Nothing for what `apply`
 * would not apply, so doubled and stale messages are never told twice.
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
      const reply = after.items.at(after.items.findLastIndex((item) => item.author === "model"));
      return [{ type: "turn_finished", turnId: fact.turnId, stop: fact.stop, reply }];
    }
    case "run_finished": {
      const { runId } = fact;
      if (fact.outcome === "limited")
        return [{ type: "run_finished", runId, outcome: "limited", limit: fact.limit }];
      if (fact.outcome === "failed")
        return [{ type: "run_finished", runId, outcome: "failed", cause: fact.cause }];
      return [{ type: "run_finished", runId, outcome: fact.outcome }];
    }
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
      const { callId, tool, status } = fact;
      return [{ type: "tool_execution_finished", callId, tool, status, isError: status !== "ok" }];
    }
    case "approval_requested": {
      const { approvalId, callId, tool, input } = fact;
      return [{ type: "approval_requested", approvalId, callId, tool, input }];
    }
    case "approval_resolved": {
      const { approvalId, callId, decision } = fact;
      return [{ type: "approval_resolved", approvalId, callId, decision }];
    }
    case "compaction_started":
    case "compaction_finished":
      return [{ type: fact.type }];
    case "session_claimed":
    case "usage_reported":
    case "opaque":
      return [];
    default:
      fact satisfies never;
      return [];
  }
}

/**
 * What of a committed item has not been told yet: its writer's last batch may have been lost, or the
 * reader away. So what is told of an item is always all of it.
 */
function narrateRest(
  before: SessionState,
  { item, epoch }: FactOf<"item_committed">,
): readonly Narration[] {
  if (item.author === "user") return [];
  const commits = item.parts.map((part): Delta => ({ op: "commit_part", partId: part.id, part }));
  const lane = before.lanes.find((open) => open.itemId === item.id);
  const nothing = emptyDraft(noDraftLimits);
  const known = lane !== undefined && lane.epoch === epoch ? lane.draft : nothing;
  const rest = narrateDeltas(item.id, known, missing(known, foldAll(nothing, commits)));
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
  if (batch.first > 0) return narrateEvents(lane, known?.draft ?? emptyDraft(), batch);
  if (known?.epoch === batch.epoch) {
    // Told again from 0: only what was missing is news.
    return narrateDeltas(lane.itemId, known.draft, missing(known.draft, lane.draft));
  }
  const told = narrateEvents(lane, emptyDraft(lane.draft.limits), batch);
  return known === undefined
    ? told
    : [{ type: "attempt_superseded", itemId: known.itemId }, ...told];
}

function narrateEvents(lane: OpenLane, draft: Draft, batch: Batch): readonly Narration[] {
  const { itemId, tool } = lane;
  const told: Narration[] = [];
  let current = draft;
  for (const event of batch.events) {
    if (event.type === "content_delta") {
      told.push(...narrateDelta(itemId, current, event.delta));
      current = fold(current, event.delta);
    } else if (event.type === "tool_execution_update") {
      told.push({
        type: event.type,
        callId: event.callId,
        tool: tool ?? "",
        message: event.message,
      });
    } else if (event.type === "retry_scheduled") {
      told.push({ type: event.type, itemId, cause: event.cause, delayMs: event.delayMs });
    } else if (event.type === "stalled") {
      told.push({ type: event.type, itemId, silentMs: event.silentMs });
    }
  }
  return told;
}

function narrateDeltas(
  itemId: ItemId,
  draft: Draft,
  deltas: readonly Delta[],
): readonly Narration[] {
  let current = draft;
  return deltas.flatMap((delta) => {
    const told = narrateDelta(itemId, current, delta);
    current = fold(current, delta);
    return told;
  });
}

function narrateDelta(itemId: ItemId, draft: Draft, delta: Delta): readonly Narration[] {
  if (delta.op === "begin_part") return delta.kind === "tool_call" ? [called(delta)] : [];
  const part = draft.parts[findPart(draft.parts, delta.partId)];
  if (delta.op === "append_text")
    return part?.state === "open" ? tellText(itemId, part.begin, delta.partId, delta.chunk) : [];
  return delta.op === "commit_part" ? narrateCommit(itemId, part, delta.part) : [];
}

/** What a commit adds: all of a part that was never streamed, and that a call is ready or refused. */
function narrateCommit(
  itemId: ItemId,
  before: DraftPart | undefined,
  part: Part,
): readonly Narration[] {
  const streamed = before?.state === "open" && textOf(before) !== "";
  const text = part.kind === "tool_call" ? part.raw : "text" in part ? part.text : "";
  const told: Narration[] = [];
  if (before === undefined && part.kind === "tool_call") told.push(called(part));
  if (!streamed) told.push(...tellText(itemId, part, part.id, text));
  if (part.kind !== "tool_call") return told;
  const { callId, tool } = part;
  told.push(
    part.input === undefined
      ? { type: "tool_call_refused", callId, tool, fault: part.fault }
      : { type: "tool_call_ready", callId, tool, input: part.input },
  );
  return told;
}

function called({ callId, tool }: { readonly callId: CallId; readonly tool: string }): Narration {
  return { type: "tool_call_started", callId, tool };
}

type Told = { readonly kind: Part["kind"]; readonly callId?: CallId; readonly tool?: string };

function tellText(itemId: ItemId, part: Told, partId: PartId, text: string): readonly Narration[] {
  if (text === "") return [];
  if (part.kind === "text") return [{ type: "assistant_text_delta", itemId, partId, text }];
  if (part.kind === "reasoning") return [{ type: "reasoning_delta", itemId, partId, text }];
  const { callId, tool } = part;
  if (callId === undefined || tool === undefined) return [];
  if (part.kind === "tool_call") return [{ type: "tool_call_arguments_delta", callId, tool, text }];
  return [{ type: "tool_output_delta", callId, tool, text }];
}

/** The deltas that lead from one draft of an attempt to a later one. */
function missing(before: Draft, after: Draft): readonly Delta[] {
  return restate(after).flatMap((delta): readonly Delta[] => {
    const known = before.parts[findPart(before.parts, delta.partId)];
    if (known === undefined) return [delta];
    if (known.state === "committed" || delta.op === "begin_part") return [];
    if (delta.op === "append_text")
      return [{ ...delta, chunk: delta.chunk.slice(textOf(known).length) }];
    if (delta.op !== "commit_part") return [delta];
    const text =
      delta.part.kind === "tool_call"
        ? delta.part.raw
        : "text" in delta.part
          ? delta.part.text
          : "";
    const rest = text.slice(textOf(known).length);
    return rest === ""
      ? [delta]
      : [{ op: "append_text", partId: delta.partId, chunk: rest }, delta];
  });
}
