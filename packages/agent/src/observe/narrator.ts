import { narrate } from "@millrace/core";
import { apply, emptyState } from "@millrace/core/reading";
import { schemaVersion } from "@millrace/core/wire";
import { List, sessionUid } from "@millrace/core/writing";
import type { Fact, LiveEvent, Narration, RunEvent, SessionId, SessionState } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import type { LiveEnvelope } from "@millrace/core/reading";

/**
 * Makes a function that converts events to narrations. It uses the same `narrate` as readers of a log,
 * with each live event as a batch of one. Sessions may interleave. It may start in the middle of a
 * session: the first fact it gets is then the start. It keeps the open lanes and the current turn's
 * items of each session, and drops them when the run ends.
 */
export function createNarrator(): (event: RunEvent) => readonly Narration[] {
  const sessions = new Map<SessionId, SessionState>();
  return (event) => {
    if (event.type === "connection_changed" || event.type === "secret_noticed") return [];
    const { sessionId } = event;
    const known = sessions.get(sessionId) ?? emptyState(observed, sessionId);
    const before = "n" in event ? reaching(known, event) : known;
    const message = "n" in event ? standing(event) : batchOf(before, event);
    const narrations = narrate(before, message);
    const after = trimmed(apply(before, message).state, event);
    if (isOver(after)) sessions.delete(sessionId);
    else sessions.set(sessionId, after);
    return narrations;
  };
}

/** Any uid will do: there is no store and no cursor here that compares uids. */
const observed = sessionUid("observed");

/** Skips facts before this one that the observer did not get. They are never narrated. */
function reaching(state: SessionState, fact: Fact): SessionState {
  return fact.n > state.head + 1 ? { ...state, head: fact.n - 1 } : state;
}

/** Removes the reset from a claim. It would undo earlier facts, and those are not kept here. */
function standing(fact: Fact): Fact {
  if (fact.type !== "session_claimed" || fact.to === undefined) return fact;
  const { to: _, ...claimed } = fact;
  return claimed;
}

function batchOf(state: SessionState, event: LiveEvent & LiveEnvelope): Batch {
  const { sessionId, runId, turnId, itemId, lane, epoch, time } = event;
  const open = state.lanes.find((each) => each.lane === lane && each.epoch === epoch);
  const opens = event.type === "attempt_started";
  // A lane whose start was missed can't be followed: number 1 is a gap then, and nothing is narrated.
  const seq = opens ? 0 : (open?.seq ?? 0) + 1;
  const place = { sessionId, runId, turnId, itemId, lane, epoch, time };
  return { v: schemaVersion, ...place, first: seq, last: seq, head: state.head, events: [event] };
}

/** Drops the items at the end of a turn. Only `turn_finished` uses them, and they would grow without bound. */
function trimmed(state: SessionState, event: RunEvent): SessionState {
  const ends = event.type === "turn_finished" || event.type === "run_finished";
  return ends && state.items.length > 0 ? { ...state, items: List.of() } : state;
}

function isOver({ run, queue, lanes }: SessionState): boolean {
  return run === undefined && queue.length === 0 && lanes.length === 0;
}
