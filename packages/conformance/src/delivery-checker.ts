import { narrate } from "@millrace/core";
import { apply, cursorOf, emptyState, restore } from "@millrace/core/reading";
import { decodeCursor, encodeCursor } from "@millrace/core/wire";
import type { Fact, ItemId, Narration, SessionState } from "@millrace/core";
import type { Batch, Epoch } from "@millrace/core/ports";
import type { Followed, Snapshot } from "@millrace/core/reading";
import { assert, assertEqual } from "./case.ts";
import { itemOf } from "./delivery-writer.ts";
import type { DeliverySession } from "./delivery-session.ts";
import { draftText, itemText } from "./delivery-text.ts";

export interface DeliveryChecker {
  readonly take: (followed: Followed) => void;
  readonly state: () => SessionState;
  readonly messages: () => number;
  readonly snapshots: () => number;
  readonly short: () => number;
}

/** Applies messages as a client does, and checks the guarantees at each of them. */
export function createDeliveryChecker(session: DeliverySession): DeliveryChecker {
  /** The narrated text of each item's current attempt. */
  const narrated = new Map<ItemId, string>();
  const highest = new Map<number, Epoch>();
  let state = emptyState(session.uid, session.sessionId);
  let messages = 0;
  let snapshots = 0;
  let short = 0;

  const recordNarration = (narration: Narration): void => {
    if (narration.type === "attempt_superseded") narrated.delete(narration.itemId);
    else if ("text" in narration) {
      const item = "itemId" in narration ? narration.itemId : itemOf(narration.callId);
      narrated.set(item, (narrated.get(item) ?? "") + narration.text);
    }
  };
  const takeSnapshot = (taken: Snapshot): void => {
    snapshots += 1;
    assert(taken.head >= state.head, `a snapshot of ${taken.head} after ${state.head}`);
    state = restore(taken);
    narrated.clear();
    for (const lane of state.lanes) narrated.set(lane.itemId, draftText(lane.draft));
  };
  const takeMessage = (message: Fact | Batch): void => {
    const narrations = narrate(state, message);
    const applied = apply(state, message);
    assert(applied.verdict !== "gap", `a gap at ${JSON.stringify(message).slice(0, 200)}`);
    if ("n" in message) checkCommit(message);
    else assert(message.head <= state.head, `text of ${message.head} before that fact`);
    state = applied.state;
    narrations.forEach(recordNarration);
  };
  /** A viewer of the attempt that became the item has a prefix of the item's text. */
  const checkCommit = (fact: Fact): void => {
    if (fact.type !== "item_committed" || fact.lane === undefined) return;
    const lane = state.lanes.find((open) => open.lane === fact.lane);
    if (lane?.epoch !== fact.epoch) return;
    const text = itemText(fact.item.parts);
    const shown = narrated.get(fact.item.id) ?? "";
    assert(text.startsWith(shown), `narrated ${shown}, committed ${text}`);
    if (shown !== text) short += 1;
  };
  const checkState = (): void => {
    for (const { lane, epoch, itemId, draft } of state.lanes) {
      const text = draftText(draft);
      const written = session.textOf(epoch);
      assert(written?.startsWith(text) === true, `lane ${lane} shows ${text} of ${written}`);
      assertEqual(narrated.get(itemId) ?? "", text, `what was narrated of ${itemId}`);
      assert(epoch >= (highest.get(lane) ?? 0), `lane ${lane} went back to epoch ${epoch}`);
      highest.set(lane, epoch);
      const done = state.items.findLastIndex((item) => item.id === itemId);
      assert(done < 0, `a draft of ${itemId} beside its item`);
    }
    // A draft that disappeared was void, and its item may be written again.
    for (const item of narrated.keys()) {
      if (!state.lanes.some((lane) => lane.itemId === item)) narrated.delete(item);
    }
  };
  return {
    take: ({ message, cursor }) => {
      messages += 1;
      if ("items" in message) takeSnapshot(message);
      else takeMessage(message);
      checkState();
      assertEqual(cursor.uid, session.uid, "the uid of a cursor");
      assert(cursor.head <= state.head, `a cursor at ${cursor.head}, ahead of ${state.head}`);
      const text = encodeCursor(cursor);
      const decoded = decodeCursor(text);
      assert(decoded !== undefined && encodeCursor(decoded) === text, `the cursor ${text}`);
      if ("items" in message) assertEqual(cursor, cursorOf(state), "the cursor of a snapshot");
    },
    state: () => state,
    messages: () => messages,
    snapshots: () => snapshots,
    short: () => short,
  };
}
