import { redactData } from "@millrace/core/secrets";
import { partsToBlobs } from "@millrace/core/blobs";
import { unpackEpoch } from "@millrace/core/ports";
import type { CommitOutcome, CommitRequest, Epoch } from "@millrace/core/ports";
import { createLaneWriter } from "@millrace/core/writing";
import type {
  Author,
  CallId,
  Delta,
  Draft,
  Item,
  ItemId,
  LiveEvent,
  PartId,
  RunId,
  TurnId,
} from "@millrace/core";
import type { LiveEnvelope } from "@millrace/core/reading";
import type { BodyOf, FactBody, Fault } from "@millrace/core/writing";
import { itemWithoutSecrets } from "./clean-facts.ts";
import { Fenced } from "./host.ts";
import type { WorkHost } from "./host.ts";
import { PartIds } from "./part-ids.ts";
import { noticesIn } from "./secret-notices.ts";

export interface LaneRequest {
  readonly runId: RunId;
  readonly turnId: TurnId;
  /** The reserved id of the item, see `loop/ids.ts`. */
  readonly itemId: ItemId;
  readonly lane: number;
  readonly epoch: Epoch;
  readonly author: Author;
  readonly callId?: CallId | undefined;
  readonly tool?: string | undefined;
  readonly model?: string | undefined;
  /** Stored in the transaction that opens the lane, so it is durable before the tool runs. */
  readonly intent?: BodyOf<"tool_execution_started"> | undefined;
  /** The head at which the driver has opened the lane already, together with the turn's first facts. */
  readonly openedAt?: number | undefined;
}

/**
 * The facts that a driver decides on once the given ones are stored. They go into the same transaction,
 * and are left out if other facts have come meanwhile.
 */
export type Ahead = (bodies: readonly FactBody[]) => readonly FactBody[];

/**
 * One item being written: deltas go to the log and to observers, and `commit` stores the item. The
 * writer may use any part ids. The draft, the log, observers and the stored item have part ids that are
 * unique in the session. After `commit` or `drop`, `write` and `publish` do nothing.
 */
export interface ItemLane {
  readonly epoch: Epoch;
  readonly draft: () => Draft;
  /** The unique id that replaces a part id of the writer. */
  readonly partId: (own: PartId) => PartId;
  /** Writes a delta. An illegal one is not written, and its fault is returned. */
  readonly write: (delta: Delta) => Fault | undefined;
  /** Sends a live event other than content, such as a retry or a stall, to the log and to observers. */
  readonly publish: (
    event: Exclude<LiveEvent, { readonly type: "content_delta" | "attempt_started" }>,
  ) => void;
  /**
   * Flushes all deltas to the log, stores the item with its settlement in one transaction, then
   * announces it. Returns the stored item, which is an earlier one if the item exists already. Throws
   * `Fenced` if a newer epoch holds the lane.
   */
  readonly commit: (
    item: Item,
    options?: {
      readonly type?: "item_committed" | "item_replaced";
      readonly settlement?: readonly BodyOf<"tool_execution_finished" | "usage_reported">[];
      readonly inputId?: BodyOf<"item_committed">["inputId"];
      readonly ahead?: Ahead | undefined;
    },
  ) => Promise<Item>;
  /** Closes the lane without storing an item. */
  readonly drop: () => Promise<void>;
}

/**
 * Opens the lane of one item. Returns the item instead if the store has it already: an earlier attempt
 * was stored, and only the store's answer was lost. Throws `Fenced` if another driver holds the session.
 */
export async function openItemLane(host: WorkHost, request: LaneRequest): Promise<ItemLane | Item> {
  const { store, uid, journal } = host;
  const { lane, epoch, itemId, intent, openedAt } = request;
  if (openedAt !== undefined) return writeLane(host, request, openedAt);
  const opened = await store.open(uid, { lane, epoch, itemId, intent });
  if (opened.outcome === "fenced") throw new Fenced();
  if (opened.outcome === "exists") {
    await journal.catchUp();
    return opened.item;
  }
  journal.stored(opened.facts);
  return writeLane(host, request, opened.head);
}

/** The lane of a call, with the intent to run it. */
export interface CallLaneRequest extends LaneRequest {
  readonly intent: BodyOf<"tool_execution_started">;
}

/**
 * Opens the lane of a call. An engine repeats an attempt that it takes for lost without a new claim, so
 * the attempt before may still run. Then the intent is stored only at a head at which the journal shows
 * that the call may begin; once it is stored, the floor of the lane refuses the attempt before. Undefined
 * if that one was first.
 */
export async function openCallLane(
  host: WorkHost,
  request: CallLaneRequest,
  mayBegin: () => boolean,
): Promise<ItemLane | Item | undefined> {
  const { store, uid, journal } = host;
  const { lane, epoch, itemId, intent } = request;
  const { incarnation, attempt } = unpackEpoch(epoch);
  if (attempt <= 1) return await openItemLane(host, request);
  for (;;) {
    if (!mayBegin()) return undefined;
    const { head } = journal.state;
    const opens = { lane, epoch, itemId };
    const answer = await store.append(uid, { incarnation, head, bodies: [intent], opens });
    if (answer.outcome === "fenced") throw new Fenced();
    if (answer.outcome === "appended") {
      journal.stored(answer.facts);
      return writeLane(host, request, journal.state.head);
    }
    await journal.catchUp();
  }
}

export function isLane(opened: ItemLane | Item | undefined): opened is ItemLane {
  return opened !== undefined && "commit" in opened;
}

function writeLane(host: WorkHost, request: LaneRequest, head: number): ItemLane {
  const { log, clock, random, uid, sessionId, journal } = host;
  const { runId, turnId, itemId, lane, epoch, author } = request;
  const writer = createLaneWriter({ log, clock, random, uid, sessionId, head, ...request });
  host.lanes.set(lane, writer.lane);
  // A fenced lane means that another driver has claimed the session. Its claim is a fact, so read it now.
  const readClaim = (): void => void journal.catchUp().catch(() => undefined);
  writer.fenced.addEventListener("abort", readClaim, { once: true });
  const ids = new PartIds(itemId);
  const envelope = { sessionId, runId, turnId, itemId, lane, epoch };
  const observed = host.observed(runId);
  const notifyObservers = (event: LiveEvent): void => {
    if (!observed) return; // saves a copy for each delta
    const live: LiveEvent & LiveEnvelope = { ...event, ...envelope, time: clock.now() };
    host.emit(live);
  };
  const notice = (content: unknown): void => {
    const request = { sessionId, runId, itemId, author, time: clock.now() };
    for (const found of noticesIn(content, request)) host.emit(found);
  };
  let over = false;
  const close = async (): Promise<void> => {
    over = true;
    await writer.close();
  };
  /** Until the item is stored, which may wait for the store, the session's view shows its draft. */
  const hide = (): void => {
    if (host.lanes.get(lane) === writer.lane) host.lanes.delete(lane);
  };
  notifyObservers(openingOf(request));

  return {
    epoch,
    draft: writer.draft,
    partId: (own) => ids.of(own),
    write: (given) => {
      if (over) return undefined; // from a model or tool that ignored its signal
      const delta = ids.ofDelta(given);
      const fault = writer.write(delta);
      if (fault === undefined && observed) notifyObservers({ type: "content_delta", delta });
      return fault;
    },
    publish: (given) => {
      if (over) return;
      const event = given.type === "retry_scheduled" ? redactData(given) : given;
      writer.publish(event);
      notifyObservers(event);
      if (event.type === "tool_execution_update") notice(event.message);
    },
    commit: async (given, { type = "item_committed", settlement, inputId, ahead } = {}) => {
      await close();
      const item = await withBlobs(host, itemWithoutSecrets(ids.ofItem(given)));
      const fact = {
        type,
        item,
        lane,
        epoch,
        runId,
        turnId,
        ...(inputId === undefined ? {} : { inputId }),
      };
      const asked = { fact, settlement };
      const committed = await commitAhead(host, asked, ahead).catch((error: unknown) => {
        hide();
        throw error;
      });
      hide();
      if (committed.outcome === "fenced") throw new Fenced();
      if (committed.outcome === "exists") {
        await journal.catchUp();
        return committed.item;
      }
      journal.stored(committed.facts);
      return item;
    },
    drop: async () => {
      await close();
      hide();
      notice(writer.draft().parts); // viewers have seen it
    },
  };
}

/**
 * The item as it is stored. While the blob store fails, bytes stay in it: a reply that was paid for is not
 * lost for its size.
 */
async function withBlobs({ blobs, blobScope }: WorkHost, item: Item): Promise<Item> {
  if (blobs === undefined) return item;
  try {
    const parts = await partsToBlobs(blobs, blobScope, item.parts);
    return parts === item.parts ? item : { ...item, parts };
  } catch {
    return item;
  }
}

function openingOf({ author, callId, tool, model }: LaneRequest): LiveEvent {
  return {
    type: "attempt_started",
    author,
    ...(callId === undefined ? {} : { callId }),
    ...(tool === undefined ? {} : { tool }),
    ...(model === undefined ? {} : { model }),
  };
}

/** Commits with what the driver decides next, or without that if facts have come since it was decided. */
async function commitAhead(
  host: WorkHost,
  request: CommitRequest,
  ahead: Ahead | undefined,
): Promise<Exclude<CommitOutcome, { readonly outcome: "moved" }>> {
  const { store, uid, journal } = host;
  const { head } = journal.state;
  const bodies = ahead?.([request.fact, ...(request.settlement ?? [])]) ?? [];
  const asked = bodies.length === 0 ? request : { ...request, ahead: { head, bodies } };
  const committed = await store.commit(uid, asked);
  if (committed.outcome !== "moved") return committed;
  return await commitAhead(host, request, undefined);
}
