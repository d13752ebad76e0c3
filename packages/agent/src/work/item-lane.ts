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
import type { Epoch } from "@millrace/core/ports";
import type { LiveEnvelope } from "@millrace/core/reading";
import type { BodyOf, Fault } from "@millrace/core/writing";
import { Fenced } from "./host.ts";
import type { WorkHost } from "./host.ts";
import { PartIds } from "./part-ids.ts";

export interface LanePlace {
  readonly runId: RunId;
  readonly turnId: TurnId;
  /** The reserved id. */
  readonly itemId: ItemId;
  readonly lane: number;
  readonly epoch: Epoch;
  readonly author: Author;
  readonly callId?: CallId | undefined;
  readonly tool?: string | undefined;
  readonly model?: string | undefined;
  /** Stored before anything else happens. */
  readonly intent?: BodyOf<"tool_execution_started"> | undefined;
}

/**
 * One item being written, from the claim to its lane to the item in the store. Its writer may use any
 * part ids; in the draft, in the log, for observers and in the stored item each part has an id that is
 * unique in the session.
 */
export interface ItemLane {
  readonly epoch: Epoch;
  readonly draft: () => Draft;
  /** The id that a part has outside, for one of the writer's own. */
  readonly partId: (own: PartId) => PartId;
  /** An illegal delta is not written, and its fault is returned. */
  readonly write: (delta: Delta) => Fault | undefined;
  readonly tell: (
    event: Exclude<LiveEvent, { readonly type: "content_delta" | "attempt_started" }>,
  ) => void;
  /** Says all that was said, stores the item, then announces it. Throws `Fenced` if another writer holds the lane. */
  readonly commit: (
    item: Item,
    options?: {
      readonly type?: "item_committed" | "item_replaced";
      readonly settlement?: readonly BodyOf<"tool_execution_finished" | "usage_reported">[];
      readonly inputId?: BodyOf<"item_committed">["inputId"];
    },
  ) => Promise<Item>;
  /** Stops writing without an item. */
  readonly drop: () => Promise<void>;
}

/**
 * Claims a lane for one item. The item itself comes back if it exists already: an earlier try was
 * lost on its way here, not on its way to the store. Throws `Fenced` if the session is another's.
 */
export async function openItemLane(host: WorkHost, place: LanePlace): Promise<ItemLane | Item> {
  const { store, uid, journal } = host;
  const { lane, epoch, itemId, intent } = place;
  const opened = await store.open(uid, { lane, epoch, itemId, intent });
  if (opened.outcome === "fenced") throw new Fenced();
  if (opened.outcome === "exists") {
    await journal.catchUp();
    return opened.item;
  }
  journal.stored(opened.facts);
  return writeLane(host, place, opened.head);
}

export function isLane(opened: ItemLane | Item): opened is ItemLane {
  return "commit" in opened;
}

function writeLane(host: WorkHost, place: LanePlace, head: number): ItemLane {
  const { store, log, clock, uid, sessionId, journal } = host;
  const { runId, turnId, itemId, lane, epoch, author, callId, tool, model } = place;
  const writer = createLaneWriter({ log, clock, uid, sessionId, head, ...place });
  host.lanes.set(lane, writer.lane);
  // Whoever holds the lane now has claimed the session: the claim is among the facts.
  const lookForClaim = (): void => void journal.catchUp().catch(() => undefined);
  writer.fenced.addEventListener("abort", lookForClaim, { once: true });
  const ids = new PartIds(itemId);
  const envelope = { sessionId, runId, turnId, itemId, lane, epoch };
  const observed = host.observed(runId);
  const show = (event: LiveEvent): void => {
    if (!observed) return; // most lanes write many small deltas, and have no observer
    const live: LiveEvent & LiveEnvelope = { ...event, ...envelope, time: clock.now() };
    host.emit(live);
  };
  let over = false;
  const close = async (): Promise<void> => {
    over = true;
    await writer.close();
    if (host.lanes.get(lane) === writer.lane) host.lanes.delete(lane);
  };
  show({
    type: "attempt_started",
    author,
    ...(callId === undefined ? {} : { callId }),
    ...(tool === undefined ? {} : { tool }),
    ...(model === undefined ? {} : { model }),
  });

  return {
    epoch,
    draft: writer.draft,
    partId: (own) => ids.of(own),
    // Whoever is still writing after the end was left behind.
    write: (given) => {
      if (over) return undefined;
      const delta = ids.ofDelta(given);
      const fault = writer.write(delta);
      if (fault === undefined && observed) show({ type: "content_delta", delta });
      return fault;
    },
    tell: (event) => {
      if (over) return;
      writer.tell(event);
      show(event);
    },
    commit: async (given, { type = "item_committed", settlement, inputId } = {}) => {
      await close();
      const item = ids.ofItem(given);
      const fact = {
        type,
        item,
        lane,
        epoch,
        runId,
        turnId,
        ...(inputId === undefined ? {} : { inputId }),
      };
      const committed = await store.commit(uid, { fact, settlement });
      if (committed.outcome === "fenced") throw new Fenced();
      if (committed.outcome === "exists") {
        await journal.catchUp();
        return committed.item;
      }
      journal.stored(committed.facts);
      return item;
    },
    drop: close,
  };
}
