import type { Delta, LiveEvent } from "@millrace/core";
import type { OpenLane } from "@millrace/core/reading";

/** Events that continue a lane. */
export interface LaneBatch {
  readonly itemId: string;
  readonly epoch: number;
  readonly events: readonly LiveEvent[];
}

/** The deltas of a batch, if all of them continue what was sent of the lane's parts. Undefined: one does not. */
export function plainDeltas(
  told: readonly { readonly id: string }[],
  { draft }: OpenLane,
  { events }: LaneBatch,
): readonly Delta[] | undefined {
  const deltas = events.flatMap((event) => (event.type === "content_delta" ? [event.delta] : []));
  const begun = deltas.filter(({ op }) => op === "begin_part").length;
  if (!events.every(isPlain) || told.length + begun !== draft.parts.length) return undefined;
  // Its step is still to begin, or a part waits for one before it.
  if (told.length === 0 || !told.every(({ id }, at) => id === draft.parts[at]?.id))
    return undefined;
  return deltas;
}

const plainKinds = new Set(["text", "reasoning", "tool_call"]);

/** Whether an event begins a part of text, continues one, or changes no content. */
function isPlain(event: LiveEvent): boolean {
  if (event.type !== "content_delta") return event.type !== "attempt_started";
  const { delta } = event;
  return delta.op === "append_text" || (delta.op === "begin_part" && plainKinds.has(delta.kind));
}
