import type { WatchedSession } from "../stream/watched.ts";

/**
 * The id of the session in which a sub-agent works on a call. While it works its parent names it; later it
 * is made as the server made it, of the item that holds the answer. Call ids come again: the newest counts.
 */
export function childIdOf({ state }: WatchedSession, callId: string): string | undefined {
  const execution = state?.executions.findLast((each) => each.callId === callId);
  if (state === undefined || execution !== undefined) return execution?.childSessionId;
  const answer = state.items
    .toArray()
    .findLast(({ parts }) =>
      parts.some((part) => part.kind === "tool_result" && part.callId === callId),
    );
  return answer && `sub_${state.uid}_${answer.id}`;
}
