import { project } from "@millrace/core";
import type { SessionState, ViewItem } from "@millrace/core";
import type { RunRecord } from "./run-record.ts";

/** By which attempt an item was sent to a reader. What another one writes is not what was sent. */
export interface ToldAttempt {
  readonly id: string;
  /** While it is written. */
  epoch: number | undefined;
  isLive: boolean;
  /** The fact that stored it. */
  n: number | undefined;
}

/** What is shown of a run: all that follows what began it, but summaries of what came before. */
export function shownItems(state: SessionState): readonly ViewItem[] {
  const summaries = new Set<string>(state.compactions.map(({ itemId }) => itemId));
  const items = project(state).items.filter(
    ({ id, author }) => !summaries.has(id) && !(state.compacting && author === "agent"),
  );
  const first = items.findIndex(({ author }) => author !== "user");
  return first < 0 ? [] : items.slice(first);
}

/** Notes which attempt is sent. */
export function noted<Told extends ToldAttempt>(
  told: Told,
  item: ViewItem,
  { state, stored }: RunRecord,
): Told {
  told.isLive = item.live;
  told.epoch = epochOf(state, item);
  told.n = item.live ? undefined : stored.get(item.id)?.n;
  return told;
}

/** Whether what was sent of an item is the beginning of what it is now. */
export function fits(told: ToldAttempt, item: ViewItem, { state, stored }: RunRecord): boolean {
  if (told.id !== item.id) return false;
  if (item.live) return told.isLive && told.epoch === epochOf(state, item);
  const by = stored.get(item.id);
  if (!told.isLive) return told.n === by?.n;
  if (by?.epoch === undefined || by.epoch !== told.epoch) return false;
  told.isLive = false;
  told.n = by.n;
  return true;
}

function epochOf({ lanes }: SessionState, { id }: ViewItem): number | undefined {
  return lanes.find(({ itemId }) => itemId === id)?.epoch;
}
