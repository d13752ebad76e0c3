import { isJsonObject } from "@millrace/core/wire";
import { callIdOf } from "../call-names.ts";
import type { Wait } from "../waits.ts";

/**
 * Up to which fact a page holds the message of a run that it goes on with. Its stream ended where the run
 * waited, so it holds all up to the last moment whose questions and results it knows. 0: it holds none of it.
 */
export function knownTo(
  waits: readonly Wait[],
  parts: readonly Readonly<Record<string, unknown>>[],
): number {
  const held = new Set<unknown>();
  const settled = new Set<unknown>();
  for (const { id, toolCallId, approval, state } of parts) {
    held.add(id);
    if (isJsonObject(approval)) held.add(approval["id"]);
    if (typeof toolCallId !== "string") continue;
    const callId = callIdOf(toolCallId);
    held.add(callId);
    if (String(state).startsWith("output-")) settled.add(callId);
  }
  const isHeld = (wait: Wait): boolean =>
    wait.asked.every((name) => held.has(name)) && wait.settled.every((id) => settled.has(id));
  return waits.findLast(isHeld)?.n ?? 0;
}
