import type { SessionState } from "@millrace/core";
import type { SessionRecord } from "@millrace/core/ports";
import { turnsOf } from "./encode/turns.ts";
import type { HistoryTurn } from "./encode/turns.ts";
import type { ReadBackOptions, RouteContext } from "@millrace/server/dialect";
import { readBack } from "@millrace/server/dialect";

/** A session as it was read without its past. */
export interface ReadStart extends Pick<ReadBackOptions, "first"> {
  readonly state: SessionState;
  /** The last facts up to the state's head, without a gap. */
  readonly facts: ReadBackOptions["newest"];
}

/** The turns of a session, the newest first. Costs the facts of those that are asked for, not of the session. */
export async function* readTurns(
  { store }: Pick<RouteContext, "store">,
  { uid }: Pick<SessionRecord, "uid">,
  { state, facts: newest, first }: ReadStart,
): AsyncGenerator<HistoryTurn, void, undefined> {
  let given = 0;
  for await (const facts of readBack({ store, uid, before: state.head + 1, newest, first })) {
    const turns = turnsOf(facts, state);
    yield* turns.slice(0, turns.length - given).toReversed();
    given = turns.length;
  }
}
