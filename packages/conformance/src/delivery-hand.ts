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
  /** Another attempt at the item of this writer, which may live on as a zombie. */
  readonly again?: Hand | undefined;
  /** A tool writes: the intent is stored, and the lane answers a call. */
  readonly tool?: boolean | undefined;
  /** The id of the item, if it must be a certain one. */
  readonly itemId?: string | undefined;
  /** The log as this writer sees it. */
  readonly log?: EventLog | undefined;
}

/** A writer on stage, and the item that it writes. */
export interface Hand {
  readonly lane: number;
  readonly epoch: Epoch;
  readonly itemId: ItemId;
  readonly tool: boolean;
  readonly writer: LaneWriter;
  /** Writes a delta, which must be legal. */
  readonly give: (delta: Delta) => void;
  /** Appends text, and waits until the log has it. */
  readonly write: (text: string) => Promise<void>;
  /** Goes on in a new part. */
  readonly part: (kind: "text" | "reasoning") => void;
  /** Stores the item. Nothing if the writer was fenced. */
  readonly commit: (instead?: Item) => Promise<readonly Fact[] | undefined>;
}

export interface Surroundings {
  readonly store: SessionStore;
  readonly log: EventLog;
  readonly clock: Clock;
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  publish(facts: readonly Fact[]): Promise<void>;
}

/** Opens the lane in the store, announces the intent, and starts the writer. */
export async function startHand(
  around: Surroundings,
  epoch: Epoch,
  options: StartOptions,
): Promise<Hand> {
  const { store, clock, uid, sessionId } = around;
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
  await around.publish(opened.facts);
  const writer = createLaneWriter({
    ...ids,
    log: options.log ?? around.log,
    clock,
    uid,
    sessionId,
    lane,
    epoch,
    head: opened.head,
    ...(tool ? { author: "tool", callId: called, tool: "search" } : { author: "model" }),
  });
  return createHand(around, { lane, epoch, itemId: ids.itemId, tool, writer });
}

function createHand(
  { store, uid }: Surroundings,
  base: Pick<Hand, "lane" | "epoch" | "itemId" | "tool" | "writer">,
): Hand {
  const { lane, epoch, itemId: id, tool, writer } = base;
  let parts = 0;
  let current: PartId | undefined;

  const give = (delta: Delta): void =>
    assertEqual(writer.write(delta), undefined, `the fault of ${delta.op}`);
  const finishPart = (): void => {
    const commit = current && commitOf(writer.draft(), current);
    if (commit !== undefined) give(commit);
    current = undefined;
  };
  const part = (kind: "text" | "reasoning"): void => {
    finishPart();
    parts += 1;
    current = partId(`part_${parts}`);
    const opening = tool
      ? ({ kind: "tool_result", callId: callOf(id), tool: "search" } as const)
      : ({ kind } as const);
    give({ op: "begin_part", partId: current, ...opening });
  };
  const write = async (text: string): Promise<void> => {
    if (current === undefined) part("text");
    assert(current !== undefined, "a part is open");
    give({ op: "append_text", partId: current, chunk: text });
    await within(writer.flush(), "the flush of a writer");
  };
  const commit = async (instead?: Item): Promise<readonly Fact[] | undefined> => {
    finishPart();
    await within(writer.flush(), "the flush before a commit");
    const author = tool ? "tool" : "model";
    const item = instead ?? commitDraft(writer.draft(), { id, author }, { stop: "end" });
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
  return { ...base, give, write, part, commit };
}

const prefix = "call_of_";

/** The call that an item answers, so that a viewer can tell whose text it was told. */
function callOf(id: ItemId): CallId {
  return callId(`${prefix}${id}`);
}

export function itemOf(call: CallId): ItemId {
  return itemId(call.slice(prefix.length));
}
