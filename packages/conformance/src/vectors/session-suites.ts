import { narrate, project } from "@millrace/core";
import { apply, cursorOf, emptyState } from "@millrace/core/reading";
import { encodeCursor, receive } from "@millrace/core/wire";
import { noUsage, sessionId, sessionUid } from "@millrace/core/writing";
import type { Json, JsonObject, Narration, SessionState, View } from "@millrace/core";
import { decodeFactOrBatch, list, record, showPart, text, toJson } from "./plain.ts";

/** `{ uid, sessionId, messages }` to `{ verdicts, state, cursor }`. */
export function answerApply(input: JsonObject): Json {
  const verdicts: string[] = [];
  const state = list(input["messages"]).reduce<SessionState>((before, message) => {
    const applied = apply(before, decodeFactOrBatch(message));
    const { verdict } = applied;
    verdicts.push(verdict === "gap" ? `gap:${applied.missing}` : verdict);
    return applied.state;
  }, newState(input));
  return toJson({ verdicts, state: showState(state), cursor: encodeCursor(cursorOf(state)) });
}

/**
 * `{ uid?, sessionId?, lines }` to `{ outcomes, state, items, cursor }`: a reader of a stream, which takes
 * nothing more after a gap or a line that it can't read.
 */
export function answerSteps(input: JsonObject): Json {
  const outcomes: string[] = [];
  let state = newState(input);
  for (const row of list(input["lines"]).map(record)) {
    const data = row["line"] ?? JSON.stringify(row["message"]);
    const received = receive(state, text(data), text(row["id"] ?? ""));
    const { outcome } = received;
    outcomes.push(outcome === "refused" ? `refused:${received.fault.code}` : outcome);
    if ("state" in received) ({ state } = received);
    if (outcome === "gap" || outcome === "refused" || outcome === "ended") break;
  }
  const items = state.items.toArray();
  return toJson({
    outcomes,
    state: showState(state),
    items,
    cursor: encodeCursor(cursorOf(state)),
  });
}

/** `{ messages }` to `{ view }`. */
export function answerProject(input: JsonObject): Json {
  const state = list(input["messages"]).reduce<SessionState>(
    (before, message) => apply(before, decodeFactOrBatch(message)).state,
    newState(input),
  );
  return toJson({ view: showView(project(state)) });
}

/** `{ messages }` to `{ narration }`. */
export function answerNarrate(input: JsonObject): Json {
  let state = newState(input);
  const narration = list(input["messages"]).flatMap((value) => {
    const message = decodeFactOrBatch(value);
    const narrations = narrate(state, message);
    state = apply(state, message).state;
    return narrations;
  });
  return toJson({ narration: narration.map(showNarration) });
}

function newState({ uid, sessionId: name }: JsonObject): SessionState {
  return emptyState(sessionUid(text(uid ?? "u1")), sessionId(text(name ?? "s1")));
}

function showState(state: SessionState): object {
  const { head, incarnation, closed, closedLanes, run } = state;
  return {
    head,
    incarnation,
    closed,
    closedLanes,
    lanes: state.lanes.map(({ lane, epoch, seq, itemId, draft }) => ({
      lane,
      epoch,
      seq,
      itemId,
      parts: draft.parts.map(showPart),
    })),
    items: state.items.toArray().map((item) => item.id),
    queue: state.queue.map((queued) => queued.inputId),
    run:
      run === undefined
        ? null
        : {
            runId: run.runId,
            turn: run.turn === undefined ? null : { ...run.turn, stop: run.turn.stop ?? null },
            aborting: run.aborting,
          },
    executions: state.executions.map((execution) => execution.callId),
    approvals: state.approvals.map(({ asked, answer }) => ({
      approvalId: asked.approvalId,
      callId: asked.callId,
      answer: answer?.decision ?? null,
    })),
  };
}

/** A view without empty fields. */
function showView(view: View): object {
  const { status, stopping, released, items, approvals, queue, error, compacting, usage } = view;
  return {
    status,
    ...(stopping ? { stopping } : {}),
    ...(released ? { released } : {}),
    items,
    ...(approvals.length === 0 ? {} : { approvals }),
    ...(queue.length === 0 ? {} : { queue }),
    error,
    ...(compacting ? { compacting } : {}),
    ...(JSON.stringify(usage) === JSON.stringify(noUsage) ? {} : { usage }),
  };
}

/** A narration with items replaced by their ids. */
function showNarration(narration: Narration): object {
  if (narration.type === "item_committed" || narration.type === "item_replaced")
    return { type: narration.type, item: narration.item.id };
  return narration.type === "turn_finished"
    ? { ...narration, reply: narration.reply?.id }
    : narration;
}
