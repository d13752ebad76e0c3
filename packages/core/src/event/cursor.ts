import type { SessionUid } from "../ids.ts";
import type { LanePosition } from "./batch.ts";
import type { SessionState } from "./state.ts";

/**
 * Where a reader is: the last fact it has, and how far it is in each open lane. Users see it as an
 * opaque text (`encodeCursor`); over SSE it is the `id`.
 */
export interface Cursor {
  readonly uid: SessionUid;
  readonly head: number;
  readonly lanes: readonly LanePosition[];
}

/** Where a reader with this state is: its facts, and its place in each open lane. */
export function cursorOf(state: SessionState): Cursor {
  const lanes = state.lanes.map(({ lane, epoch, seq }) => ({ lane, epoch, seq }));
  return { uid: state.uid, head: state.head, lanes };
}
