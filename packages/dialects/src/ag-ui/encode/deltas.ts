import type { OpenLane } from "@millrace/core/reading";
import { plainDeltas } from "../../shared/encode/lane-batch.ts";
import type { LaneBatch } from "../../shared/encode/lane-batch.ts";
import type { AgUiEvent } from "./events.ts";
import { messageIdOf } from "./messages.ts";
import { more, opening, untoldCall } from "./told.ts";
import type { ToldItem } from "./told.ts";

/**
 * The events of a batch that continues what was sent, each delta as it came. Costs what is new, however long
 * the reply is. Undefined if one of them is not plain: then the lane's draft says what is lacking.
 */
export function tellDeltas(
  told: ToldItem,
  lane: OpenLane,
  batch: LaneBatch,
): readonly AgUiEvent[] | undefined {
  const deltas = plainDeltas(told.parts, lane, batch);
  if (deltas === undefined) return undefined;
  const out: AgUiEvent[] = [];
  for (const delta of deltas) {
    if (delta.op === "begin_part") {
      const { kind, partId: id } = delta;
      const call = "callId" in delta ? untoldCall(delta.callId, delta.tool) : undefined;
      const part = { id, kind, sent: 0, isDone: false, call };
      const at = told.parts.push(part) - 1;
      out.push(...opening(part, messageIdOf(told.id, at)));
    }
    if (delta.op !== "append_text" || delta.chunk === "") continue;
    const at = told.parts.findLastIndex(({ id }) => id === delta.partId);
    const part = told.parts[at];
    if (part === undefined) continue; // no lane has text of a part that was not begun
    part.sent += delta.chunk.length;
    out.push(more(part, messageIdOf(told.id, at), delta.chunk));
  }
  return out;
}
