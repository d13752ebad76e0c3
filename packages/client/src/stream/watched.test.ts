import type { Item, SessionState } from "@millrace/core";
import { packEpoch, systemClock } from "@millrace/core/ports";
import { cursorOf, emptyState, snapshot } from "@millrace/core/reading";
import { decodeCursor, encodeCursor, encodeMessage } from "@millrace/core/wire";
import { itemId, List, partId, sessionId, sessionUid } from "@millrace/core/writing";
import { expect, it } from "vitest";
import { WatchedSessions } from "./watched.ts";

const item = (n: number): Item => ({
  id: itemId(`item_${n}`),
  author: "user",
  parts: [{ id: partId(`p${n}`), kind: "text", text: `text ${n}` }],
  stop: "end",
});

/** The session with these items, of which those before are left out. */
function stateOf(first: number, last: number): SessionState {
  const items = List.of(Array.from({ length: last - first + 1 }, (_, at) => item(first + at)));
  const earlier = first === 1 ? {} : { earlier: { count: first - 1, before: first } };
  return { ...emptyState(sessionUid("u1"), sessionId("s")), head: last, items, ...earlier };
}

function take(watched: WatchedSessions, state: SessionState): void {
  watched.take(encodeMessage(snapshot(state)), encodeCursor(cursorOf(state)));
}

it("a later snapshot that leaves items out takes none of them from the reader who has them", () => {
  const watched = new WatchedSessions(systemClock);
  const session = watched.of("s");
  const older = (): readonly string[] | undefined => session.older?.items.map(({ id }) => id);
  take(watched, stateOf(1, 5));
  expect(older()).toBeUndefined();
  take(watched, stateOf(4, 6));
  expect(older()).toEqual(["item_1", "item_2", "item_3"]);
  expect(session.older?.from).toBeUndefined(); // there is nothing before them
  take(watched, stateOf(5, 7));
  expect(older()).toEqual(["item_1", "item_2", "item_3", "item_4"]);
  take(watched, stateOf(2, 7));
  expect(older()).toEqual(["item_1"]);
});

it("a snapshot behind a gap leaves nothing of what was before it, and the way to load it stays", () => {
  const watched = new WatchedSessions(systemClock);
  const session = watched.of("s");
  take(watched, stateOf(3, 5));
  take(watched, stateOf(5, 6));
  expect(session.older).toMatchObject({ from: "item_3" });
  take(watched, stateOf(9, 10));
  expect(session.older).toBeUndefined();
  expect(session.state?.earlier).toEqual({ count: 8, before: 9 });
});

it("a stream begins where the reader's state is, also where the id of its last message says less", () => {
  const watched = new WatchedSessions(systemClock);
  const session = watched.of("s");
  take(watched, stateOf(1, 5));
  const epoch = packEpoch({ incarnation: 1, generation: 1, attempt: 1 });
  const of = { v: 1, sessionId: "s", runId: "run_1", turnId: "turn_1", time: 1 };
  const lane = { lane: 0, epoch, itemId: "item_6", first: 0, last: 0, head: 5 };
  const started = { type: "attempt_started", author: "model", model: "test/model" };
  const batch = { ...of, ...lane, type: "batch", events: [started] };
  watched.take(JSON.stringify(batch), "1.u1.5.0-1-0");
  const { state } = session;
  expect(state?.lanes).toHaveLength(1);

  // Of a server that has nothing of that reply.
  const input = { kind: "prompt", parts: [{ id: "p1", kind: "text", text: "Hi" }] };
  const fact = { ...of, n: 6, type: "input_accepted", inputId: "input_1", input };
  watched.take(JSON.stringify(fact), encodeCursor({ uid: sessionUid("u1"), head: 6, lanes: [] }));

  expect(session.state?.head).toBe(6);
  const { cursor = "" } = session.position;
  expect(decodeCursor(cursor)).toMatchObject({ head: 6, lanes: [{ lane: 0, epoch, seq: 0 }] });
});
