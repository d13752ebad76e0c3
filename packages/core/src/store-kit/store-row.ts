import { apply } from "../event/apply.ts";
import type { Epoch } from "../event/epoch.ts";
import { schemaVersion } from "../event/event.ts";
import type { Fact, FactBody, FactOf } from "../event/event.ts";
import { replay } from "../event/reduce.ts";
import { withoutUndone } from "../event/undone.ts";
import { closedEpoch, emptyState } from "../event/state.ts";
import type { ClosedLane, SessionState } from "../event/state.ts";
import type { ItemId, SessionId, SessionUid } from "../ids.ts";
import type { Floor, ReadOptions } from "../ports/session-store.ts";
import { noWork, workAfter } from "./store-work.ts";
import type { StoreWork } from "./store-work.ts";

/**
 * What a store keeps of each session to decide the next call. Its size is bounded by the number
 * of lanes and inputs in use, whatever the session's length. A store may keep more with each floor.
 */
export interface StoreRow<OpenFloor extends Floor = Floor> extends StoreWork {
  readonly uid: SessionUid;
  readonly sessionId: SessionId;
  /** The number of the last fact. */
  readonly head: number;
  readonly incarnation: number;
  /** Every lane is closed up to and including this epoch. */
  readonly closed: Epoch;
  /** Lanes that are closed further than that. Sorted by lane. */
  readonly closedLanes: readonly ClosedLane[];
  /** Of open lanes only, in any order. */
  readonly floors: readonly OpenFloor[];
}

/**
 * The row of a session in this state. A floor that the state has closed is dropped: what is closed
 * refuses the same epochs.
 */
export function rowOf<OpenFloor extends Floor>(
  state: SessionState,
  floors: readonly OpenFloor[],
  work: StoreWork,
): StoreRow<OpenFloor> {
  const { uid, sessionId, head, incarnation, closed, closedLanes } = state;
  const open = floors.filter(({ lane, epoch }) => epoch > closedEpoch(state, lane));
  const { run, queue, driver, calls, updatedAt } = work;
  const own = { uid, sessionId, head, incarnation, closed, closedLanes, floors: open };
  return { ...own, run, queue, driver, calls, updatedAt };
}

/** What changes a row besides facts. */
export interface RowChange<OpenFloor extends Floor = Floor> {
  /** The facts before those of this call. Only a reset needs them. */
  readonly all: readonly Fact[];
  readonly floor?: OpenFloor | undefined;
  /** The name of the driver that claims. */
  readonly driver?: string | undefined;
}

/** The floors after one more was raised. */
export function raiseFloor<OpenFloor extends Floor>(
  floors: readonly OpenFloor[],
  raised: OpenFloor | undefined,
): readonly OpenFloor[] {
  if (raised === undefined) return floors;
  return [...floors.filter(({ lane }) => lane !== raised.lane), raised];
}

/**
 * The row after these facts and this floor, for a store that keeps no state. `all` are the facts
 * before them; only a reset needs those.
 */
export function advanceRow<OpenFloor extends Floor>(
  row: StoreRow<OpenFloor>,
  facts: readonly Fact[],
  { all, floor, driver }: RowChange<OpenFloor>,
): StoreRow<OpenFloor> {
  const { uid, sessionId, head, incarnation, closed, closedLanes } = row;
  const before = { ...emptyState(uid, sessionId), head, incarnation, closed, closedLanes };
  const after = stateAfter(before, facts, all);
  return rowOf(after, raiseFloor(row.floors, floor), workOf(row, facts, { all, driver }));
}

/**
 * The work after these facts. A reset undoes earlier ones, so it is then counted anew from all; it is an
 * activity by itself.
 */
export function workOf(
  before: StoreWork,
  facts: readonly Fact[],
  { all, driver }: Omit<RowChange, "floor">,
): StoreWork {
  if (!facts.some(isReset)) return workAfter(before, facts, driver);
  const { updatedAt } = before;
  const time = Math.max(updatedAt, facts.at(-1)?.time ?? 0);
  return { ...workAfter(noWork, withoutUndone([...all, ...facts]), driver), updatedAt: time };
}

/**
 * The state after these facts, by the fold that readers use. A reset undoes facts that are in the
 * state already, so the state is then rebuilt from `all` facts before it, and these.
 */
export function stateAfter(
  state: SessionState,
  facts: readonly Fact[],
  all: readonly Fact[],
): SessionState {
  if (facts.some(isReset)) {
    return replay(emptyState(state.uid, state.sessionId), [...all, ...facts]);
  }
  return facts.reduce((before, fact) => apply(before, fact).state, state);
}

/** The facts that a read asks for, from all facts of a session. */
export function chooseFacts(facts: readonly Fact[], options?: ReadOptions): readonly Fact[] {
  const { first, last } = rangeOf(facts.length, options);
  return facts.slice(first, last);
}

/** Which facts of a session with this head a read asks for: those above `first`, up to and with `last`. */
export function rangeOf(
  head: number,
  { after = 0, before = Infinity, limit = Infinity }: ReadOptions = {},
): { readonly first: number; readonly last: number } {
  const end = Math.min(head, before - 1);
  const first = before === Infinity ? after : Math.max(after, end - limit);
  return { first, last: Math.max(first, Math.min(end, first + limit)) };
}

/** A fact that holds an item. */
export type ItemFact = FactOf<"item_committed" | "item_replaced">;

/** Gives the bodies of one call their numbers after the row's head, and one time. */
export function numberFacts(
  bodies: readonly FactBody[],
  { sessionId, head }: Pick<StoreRow, "sessionId" | "head">,
  time: number,
): readonly Fact[] {
  return bodies.map((body, at) => ({
    ...body,
    v: schemaVersion,
    n: head + at + 1,
    sessionId,
    time,
  }));
}

/**
 * The fact that holds each item. After a reset it is given all facts: an undone item's id is free
 * again, since its step is repeated under it.
 */
export function itemsOf(facts: readonly Fact[]): ReadonlyMap<ItemId, ItemFact> {
  const items = withoutUndone(facts).filter(holdsItem);
  return new Map(items.map((fact) => [fact.item.id, fact]));
}

/** True for a fact that holds an item. */
export function holdsItem(fact: Fact): fact is ItemFact {
  return fact.type === "item_committed" || fact.type === "item_replaced";
}

/** True for a claim after an operator's reset, which undoes facts. */
export function isReset(body: FactBody): boolean {
  return body.type === "session_claimed" && body.to !== undefined;
}
