import type { Fact, RunId, SessionState, SessionUid } from "@millrace/core";
import { memorySessionStore, systemClock } from "@millrace/core/memory";
import type { Batch } from "@millrace/core/ports";
import { apply, catchUpFrom, emptyState, replay } from "@millrace/core/reading";
import type { Followed } from "@millrace/core/reading";
import { sessionUid } from "@millrace/core/writing";
import { turnsOf } from "../../../packages/dialects/src/shared/encode/turns.ts";
import type { HistoryTurn } from "../../../packages/dialects/src/shared/encode/turns.ts";
import { storeTime, uidOf } from "../../positions/record.ts";
import type { Recording } from "../../positions/record.ts";

/** A session as one that watched it from the start was sent it. */
export interface WatchedSession {
  readonly seed: number;
  readonly uid: SessionUid;
  readonly sessionId: Recording["sessionId"];
  readonly facts: readonly Fact[];
  readonly messages: readonly (Fact | Batch)[];
  /** The state before each message, and at last the final one. */
  readonly states: readonly SessionState[];
  readonly runs: readonly WatchedRun[];
}

/** A run of the session, by the places of its first message and of the last one. */
export interface WatchedRun {
  readonly runId: RunId;
  readonly first: number;
  readonly last: number;
}

/** Plays a recording into memory. What does not apply was never sent to a viewer. */
export async function watchedSession(recording: Recording): Promise<WatchedSession> {
  const { seed, sessionId, calls } = recording;
  const clock = {
    now: () => storeTime,
    monotonic: () => 0,
    sleep: async () => undefined,
    after: systemClock.after,
  };
  const store = memorySessionStore({ clock, makeId: () => uidOf(seed) });
  const { uid } = await store.create({ sessionId });
  const facts: Fact[] = [];
  const messages: (Fact | Batch)[] = [];
  const states: SessionState[] = [];
  let state = emptyState(sessionUid(uid), sessionId);
  const take = (message: Fact | Batch): void => {
    const applied = apply(state, message);
    if (applied.verdict !== "applied") return;
    messages.push(message);
    states.push(state);
    ({ state } = applied);
  };
  for (const call of calls) {
    if (call.kind === "append" && call.outcome === "stored") take(call.batch);
    if (call.kind !== "store") continue;
    for (const fact of (await call.play(store, uid)).facts ?? []) {
      if (fact.n <= facts.length) continue; // the answer to a repeat
      facts.push(fact);
      take(fact);
    }
  }
  states.push(state);
  return { seed, uid, sessionId, facts, messages, states, runs: runsOf(messages) };
}

function runsOf(messages: readonly (Fact | Batch)[]): readonly WatchedRun[] {
  return messages.flatMap((message, first) => {
    if (!("n" in message) || message.type !== "run_started") return [];
    const { runId } = message;
    const last = messages.findIndex(
      (each) => "n" in each && each.type === "run_finished" && each.runId === runId,
    );
    return last < 0 ? [] : [{ runId, first, last }];
  });
}

/** The turns of which the history is made. */
export function storedTurns({
  uid,
  sessionId,
  facts,
}: Pick<WatchedSession, "uid" | "sessionId" | "facts">): readonly HistoryTurn[] {
  return turnsOf(facts, replay(emptyState(uid, sessionId), facts));
}

/** What one is sent who comes at a place of the session, standing after this fact: what it lacks so far. */
export function sentAt(
  { uid, facts, states }: WatchedSession,
  place: number,
  head: number,
):
  | readonly Parameters<typeof apply>[1][]
  | ReturnType<typeof catchUpFrom>["messages"][number]["message"][] {
  const state = states[place] as SessionState; // there is one for each place
  const known = facts.slice(0, state.head);
  const source = { state, facts: known, recent: [] };
  return catchUpFrom(source, { uid, head, lanes: [] }).messages.map(({ message }) => message);
}

/** The session at a place as a snapshot. */
export function snapshotAt({ states }: WatchedSession, place: number): Followed["message"] {
  const state = states[place] as SessionState; // there is one for each place
  const [first] = catchUpFrom({ state, facts: [], recent: [] }, undefined).messages;
  return (first as Followed).message; // a catchUpFrom without a cursor is one snapshot
}
