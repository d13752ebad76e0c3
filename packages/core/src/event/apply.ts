import { readersDraft } from "../delta/draft.ts";
import type { Batch } from "./batch.ts";
import type { Fact } from "./event.ts";
import { continueLane, openLane } from "./lane.ts";
import { reduceFact } from "./reduce.ts";
import { closedEpoch, findLane } from "./state.ts";
import type { OpenLane, SessionState } from "./state.ts";

/** What became of a fact or batch that was handed to `apply`. */
export type ApplyVerdict =
  | "applied"
  /** It was applied before. */
  | "duplicate"
  /** Its writer was superseded, or its item is finished. */
  | "stale"
  /** Something before it is missing; `missing` names it. The state is as it was. */
  | "gap";

/** `snapshot`: an operator's reset undid facts that this reader no longer has the parts of. */
export type Missing = "facts" | "lane" | "snapshot";

/** The state after a message, and what became of the message. */
export type Applied =
  | { readonly state: SessionState; readonly verdict: Exclude<ApplyVerdict, "gap"> }
  | { readonly state: SessionState; readonly verdict: "gap"; readonly missing: Missing };

/**
 * The one function by which every reader takes what it is sent: facts by their number, batches by
 * lane, epoch and seq. Whatever is lost, doubled, late or out of order on the way, the state is
 * always that of a prefix of what happened, and a gap is reported, never skipped.
 */
export function apply(state: SessionState, message: Fact | Batch): Applied {
  return "n" in message ? applyFact(state, message) : applyBatch(state, message);
}

function applyFact(state: SessionState, fact: Fact): Applied {
  if (fact.n <= state.head) return { state, verdict: "duplicate" };
  if (fact.n > state.head + 1) return { state, verdict: "gap", missing: "facts" };
  if (fact.type === "session_claimed" && fact.to !== undefined) {
    return { state, verdict: "gap", missing: "snapshot" };
  }
  return { state: { ...reduceFact(state, fact), head: fact.n }, verdict: "applied" };
}

function applyBatch(state: SessionState, batch: Batch): Applied {
  const open = findLane(state, batch.lane);
  if (batch.epoch <= closedEpoch(state, batch.lane)) return { state, verdict: "stale" };
  if (open !== undefined && batch.epoch < open.epoch) return { state, verdict: "stale" };
  const same = open?.epoch === batch.epoch;
  if (same && batch.last <= open.seq) return { state, verdict: "duplicate" };
  if (batch.head > state.head) return { state, verdict: "gap", missing: "facts" };
  const before =
    batch.first === 0
      ? openLane(batch, readersDraft)
      : same && batch.first === open.seq + 1
        ? open
        : undefined;
  const after = before && {
    ...continueLane(before, batch.events),
    seq: batch.last,
    time: batch.time,
  };
  // A sound writer makes no fault. The lane stays as it was, and is requested again from its writer.
  if (after === undefined || after.draft.fault !== undefined)
    return { state, verdict: "gap", missing: "lane" };
  return { state: withLane(state, after), verdict: "applied" };
}

function withLane(state: SessionState, lane: OpenLane): SessionState {
  const at = state.lanes.findIndex((open) => open.lane >= lane.lane);
  if (at < 0) return { ...state, lanes: [...state.lanes, lane] };
  const lanes = state.lanes.slice();
  lanes.splice(at, state.lanes[at]?.lane === lane.lane ? 1 : 0, lane);
  return { ...state, lanes };
}
