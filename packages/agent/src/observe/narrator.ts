import { narrate } from "@millrace/core";
import { apply, emptyState } from "@millrace/core/reading";
import { schemaVersion } from "@millrace/core/wire";
import { List, sessionUid } from "@millrace/core/writing";
import type { Fact, LiveEvent, Narration, RunEvent, SessionId, SessionState } from "@millrace/core";
import type { Batch } from "@millrace/core/ports";
import type { LiveEnvelope } from "@millrace/core/reading";

/**
 * Tells the flat story from events as they happen, by the same `narrate` that readers of a log use:
 * each live event is a batch of one. Sessions may interleave. An observer may come to a session that
 * is under way: the first fact it sees is its beginning. What it keeps of a session is what is open,
 * and it is let go with its run.
 */
export function createNarrator(): (event: RunEvent) => readonly Narration[] {
  const sessions = new Map<SessionId, SessionState>();
  return (event) => {
    const { sessionId } = event;
    const known = sessions.get(sessionId) ?? emptyState(observed, sessionId);
    const before = "n" in event ? reaching(known, event) : known;
    const message = "n" in event ? standing(event) : batchOf(before, event);
    const told = narrate(before, message);
    const after = trimmed(apply(before, message).state, event);
    if (isOver(after)) sessions.delete(sessionId);
    else sessions.set(sessionId, after);
    return told;
  };
}

/** Uids keep lives of a name apart in stores and cursors. Here is neither. */
const observed = sessionUid("observed");

/** Facts that others wrote before this one may not have been seen; they are not told later either. */
function reaching(state: SessionState, fact: Fact): SessionState {
  return fact.n > state.head + 1 ? { ...state, head: fact.n - 1 } : state;
}

/** An operator's reset undoes facts of the past. Of that nothing is kept here but open lanes. */
function standing(fact: Fact): Fact {
  if (fact.type !== "session_claimed" || fact.to === undefined) return fact;
  const { to: _, ...claimed } = fact;
  return claimed;
}

function batchOf(state: SessionState, event: LiveEvent & LiveEnvelope): Batch {
  const { sessionId, runId, turnId, itemId, lane, epoch, time } = event;
  const open = state.lanes.find((each) => each.lane === lane && each.epoch === epoch);
  const opens = event.type === "attempt_started";
  // Without its opening a lane can't be followed: 1 after nothing is a gap, and nothing is told.
  const seq = opens ? 0 : (open?.seq ?? 0) + 1;
  const place = { sessionId, runId, turnId, itemId, lane, epoch, time };
  return { v: schemaVersion, ...place, first: seq, last: seq, head: state.head, events: [event] };
}

/** Items serve the end of their turn, where the reply is told. A long session would pile them up. */
function trimmed(state: SessionState, event: RunEvent): SessionState {
  const ends = event.type === "turn_finished" || event.type === "run_finished";
  return ends && state.items.length > 0 ? { ...state, items: List.of() } : state;
}

function isOver({ run, queue, lanes }: SessionState): boolean {
  return run === undefined && queue.length === 0 && lanes.length === 0;
}
