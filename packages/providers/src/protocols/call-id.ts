import { callId } from "@millrace/core/model";
import type { CallId, Json, Transcript } from "@millrace/core";

/**
 * Returns the id of a new call: the vendor's if it is valid and unused, else one derived from it,
 * else one made from the number of earlier calls. The same events in the same session give the same
 * ids.
 */
export function chooseCallId(given: Json | undefined, taken: ReadonlySet<string>): CallId {
  const usable =
    typeof given === "string" && given !== "" && given.length <= 200 && given.isWellFormed();
  if (!usable) return numbered("call", taken, taken.size + 1);
  return taken.has(given) ? numbered(given, taken, 2) : callId(given);
}

/** Ids of all calls in a transcript. A new call must not reuse one. */
export function callIdsOf(transcript: Transcript): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parts } of transcript) {
    for (const part of parts) if (part.kind === "tool_call") ids.add(part.callId);
  }
  return ids;
}

function numbered(base: string, taken: ReadonlySet<string>, first: number): CallId {
  let number = first;
  while (taken.has(`${base}_${number}`)) number += 1;
  return callId(`${base}_${number}`);
}
