import type { LiveEvent } from "@millrace/core";
import type { OpenLane } from "@millrace/core/reading";
import type { Chunk } from "./chunks.ts";
import { untoldCall } from "./told.ts";
import type { ToldItem } from "./told.ts";

/** Events that continue a lane. */
export interface LaneBatch {
  readonly itemId: string;
  readonly epoch: number;
  readonly events: readonly LiveEvent[];
}

/**
 * The chunks of events that continue what was sent, each delta as it came. Costs what is new, however long
 * the reply is. Undefined if one of them is not plain: then the lane's draft says what is lacking.
 */
export function tellDeltas(
  told: ToldItem,
  { draft }: OpenLane,
  { events }: LaneBatch,
  nameOf: (callId: string) => string,
): readonly Chunk[] | undefined {
  const deltas = events.flatMap((event) => (event.type === "content_delta" ? [event.delta] : []));
  const begun = deltas.filter(({ op }) => op === "begin_part").length;
  if (!events.every(isPlain) || told.parts.length + begun !== draft.parts.length) return undefined;
  // Its step is still to begin, or a part waits for one before it.
  if (!told.parts.every(({ id }, at) => id === draft.parts[at]?.id)) return undefined;
  if (told.parts.length === 0) return undefined;
  const out: Chunk[] = [];
  for (const delta of deltas) {
    if (delta.op === "begin_part") {
      const { kind, partId: id } = delta;
      const call = "callId" in delta ? untoldCall(nameOf(delta.callId), delta.tool) : undefined;
      const at = told.parts.push({ id, kind, sent: 0, isDone: false, call }) - 1;
      if (call === undefined)
        out.push({ type: `${kind as "text" | "reasoning"}-start`, id: String(at) });
      else {
        const { toolCallId, toolName } = call;
        out.push({ type: "tool-input-start", toolCallId, toolName });
      }
    }
    if (delta.op !== "append_text") continue;
    const at = told.parts.findLastIndex(({ id }) => id === delta.partId);
    const part = told.parts[at];
    if (part === undefined) continue; // no lane has text of a part that was not begun
    part.sent += delta.chunk.length;
    if (part.call === undefined)
      out.push({
        type: `${part.kind as "text" | "reasoning"}-delta`,
        id: String(at),
        delta: delta.chunk,
      });
    else {
      const { toolCallId } = part.call;
      out.push({ type: "tool-input-delta", toolCallId, inputTextDelta: delta.chunk });
    }
  }
  return out;
}

const plainKinds = new Set(["text", "reasoning", "tool_call"]);

/** Whether an event begins a part of text, continues one, or changes no content. */
function isPlain(event: LiveEvent): boolean {
  if (event.type !== "content_delta") return event.type !== "attempt_started";
  const { delta } = event;
  return delta.op === "append_text" || (delta.op === "begin_part" && plainKinds.has(delta.kind));
}
