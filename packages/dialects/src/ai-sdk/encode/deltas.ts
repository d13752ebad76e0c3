import type { OpenLane } from "@millrace/core/reading";
import { plainDeltas } from "../../shared/encode/lane-batch.ts";
import type { LaneBatch } from "../../shared/encode/lane-batch.ts";
import type { Chunk } from "./chunks.ts";
import { untoldCall } from "./told.ts";
import type { ToldItem } from "./told.ts";

/**
 * The chunks of events that continue what was sent, each delta as it came. Costs what is new, however long
 * the reply is. Undefined if one of them is not plain: then the lane's draft says what is lacking.
 */
export function tellDeltas(
  told: ToldItem,
  lane: OpenLane,
  batch: LaneBatch,
  nameOf: (callId: string) => string,
): readonly Chunk[] | undefined {
  const deltas = plainDeltas(told.parts, lane, batch);
  if (deltas === undefined) return undefined;
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
