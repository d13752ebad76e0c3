import {
  callId,
  commitDraft,
  commitOf,
  createLaneWriter,
  itemId,
  partId,
  runId,
  turnId,
} from "@millrace/core/writing";
import type {
  CallId,
  Delta,
  Fact,
  Item,
  ItemId,
  PartId,
  SessionId,
  SessionUid,
} from "@millrace/core";
import type { Clock, Epoch, EventLog, SessionStore } from "@millrace/core/ports";
import type { LaneWriter } from "@millrace/core/writing";
import { assert, assertEqual, assertOutcome, within } from "./case.ts";

export interface StartOptions {
  readonly lane?: number | undefined;
  /** Starts another attempt at the item of this writer, which may go on as a zombie. */
  readonly again?: ItemWriter | undefined;
  /** True for a tool: the intent is stored, and the lane answers a call. */
  readonly tool?: boolean | undefined;
  /** The id of the item. Default: one from the lane and epoch. */
  readonly itemId?: string | undefined;
  /** The log of this writer. Default: that of the session. */
  readonly log?: EventLog | undefined;
}

/** A lane writer with the item that it writes. */
export interface ItemWriter {
  readonly lane: number;
  readonly epoch: Epoch;
  readonly itemId: ItemId;
  readonly tool: boolean;
  readonly laneWriter: LaneWriter;
  /** Writes a delta, which must be legal. */
  readonly writeDelta: (delta: Delta) => void;
  /** Appends text, and waits until the log has stored it. */
  readonly write: (text: string) => Promise<void>;
  /** Begins a new part. */
  readonly part: (kind: "text" | "reasoning") => void;
  /** Commits the item. Returns undefined if the writer was fenced. */
  readonly commit: (instead?: Item) => Promise<readonly Fact[] | undefined>;
}

export interface WriterContext {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  publish(facts: readonly Fact[]): Promise<void>;
}

/** Opens the lane in the store, announces the intent, and starts the lane writer. */
export async function startItemWriter(
  context: WriterContext,
  epoch: Epoch,
  options: StartOptions,
): Promise<ItemWriter> {
  const { store, clock, uid, sessionId } = context;
  const { again } = options;
  const { lane = again?.lane ?? 0, tool = again?.tool ?? false } = options;
  const id = options.itemId ?? again?.itemId ?? `item_${lane}_${epoch}`;
  const ids = { runId: runId("run_1"), turnId: turnId("turn_1"), itemId: itemId(id) };
  const called = callOf(ids.itemId);
  const intent = {
    type: "tool_execution_started",
    ...ids,
    callId: called,
    tool: "search",
    input: { q: id },
    lane,
    epoch,
  } as const;
  const request = { lane, epoch, itemId: ids.itemId, ...(tool ? { intent } : {}) };
  const opened = assertOutcome(await store.open(uid, request), "opened", `the opening of ${id}`);
  await context.publish(opened.facts);
  const laneWriter = createLaneWriter({
    ...ids,
    log: options.log ?? context.log,
    clock,
    uid,
    sessionId,
    lane,
    epoch,
    head: opened.head,
    ...(tool ? { author: "tool", callId: called, tool: "search" } : { author: "model" }),
  });
  return createItemWriter(context, { lane, epoch, itemId: ids.itemId, tool, laneWriter });
}

function createItemWriter(
  { store, uid }: WriterContext,
  base: Pick<ItemWriter, "lane" | "epoch" | "itemId" | "tool" | "laneWriter">,
): ItemWriter {
  const { lane, epoch, itemId: id, tool, laneWriter } = base;
  let parts = 0;
  let current: PartId | undefined;

  const writeDelta = (delta: Delta): void =>
    assertEqual(laneWriter.write(delta), undefined, `the fault of ${delta.op}`);
  const finishPart = (): void => {
    const commit = current && commitOf(laneWriter.draft(), current);
    if (commit !== undefined) writeDelta(commit);
    current = undefined;
  };
  const part = (kind: "text" | "reasoning"): void => {
    finishPart();
    parts += 1;
    current = partId(`part_${parts}`);
    const opening = tool
      ? ({ kind: "tool_result", callId: callOf(id), tool: "search" } as const)
      : ({ kind } as const);
    writeDelta({ op: "begin_part", partId: current, ...opening });
  };
  const write = async (text: string): Promise<void> => {
    if (current === undefined) part("text");
    assert(current !== undefined, "a part is open");
    writeDelta({ op: "append_text", partId: current, chunk: text });
    await within(laneWriter.flush(), "the flush of a writer");
  };
  const commit = async (instead?: Item): Promise<readonly Fact[] | undefined> => {
    finishPart();
    await within(laneWriter.flush(), "the flush before a commit");
    const author = tool ? "tool" : "model";
    const item = instead ?? commitDraft(laneWriter.draft(), { id, author }, { stop: "end" });
    const type = instead === undefined ? "item_committed" : "item_replaced";
    const ids = { runId: runId("run_1"), turnId: turnId("turn_1") };
    const settled = {
      type: "tool_execution_finished",
      ...ids,
      callId: callOf(id),
      tool: "search",
      status: "ok",
    } as const;
    const answer = await store.commit(uid, {
      fact: { type, item, lane, epoch, ...ids },
      settlement: tool ? [settled] : [],
    });
    return answer.outcome === "committed" ? answer.facts : undefined;
  };
  return { ...base, writeDelta, write, part, commit };
}

const prefix = "call_of_";

/** The call that an item answers, so that a narration can be matched to its item. */
function callOf(id: ItemId): CallId {
  return callId(`${prefix}${id}`);
}

export function itemOf(call: CallId): ItemId {
  return itemId(call.slice(prefix.length));
}
