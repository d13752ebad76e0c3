import type { Part } from "../content/part.ts";
import { schemaVersion } from "../event/event.ts";
import type { Batch } from "../event/batch.ts";
import type { Fact, FactOf } from "../event/event.ts";
import type { SessionState } from "../event/state.ts";
import type { PartId } from "../ids.ts";
import { isJsonObject } from "../json.ts";
import type { JsonObject } from "../json.ts";
import { positionText } from "./cursor-codec.ts";
import { fact } from "./event-codec.ts";
import { parseLine } from "./message-codec.ts";
import { decodeBy, gap, id as idShape, malformed, text } from "./shape.ts";
import type { Decoded } from "./shape.ts";
import { batchOf } from "./step-batch.ts";
import { isOfLane, impliedFields, partOf, runFields, queuedParts } from "./step-references.ts";

/**
 * The message that a step stands for, in the state of a reader that has taken everything before it. A
 * step that does not follow that state, or refers to what it does not have, gives the fault `gap`.
 * Whatever the fault, the reader takes nothing more from that stream. Never throws.
 */
export function readStep(state: SessionState, line: string): Decoded<Fact | Batch> {
  return decodeBy({ decode: () => stepOf(state, parseLine(line)) }, line);
}

/** As `readStep`, of a line that is parsed. Only for `decodeBy`: throws what it catches. */
export function stepOf(state: SessionState, step: unknown): Fact | Batch {
  if (!isJsonObject(step)) return malformed("", "an object");
  if (Object.hasOwn(step, "v")) return malformed("v", "no version");
  const isFact = Object.hasOwn(step, "n") || !isOfLane(step["type"]);
  return isFact ? factOf(state, step) : batchOf(state, step);
}

function factOf(state: SessionState, step: JsonObject): Fact {
  const n = state.head + 1;
  const type = text.decode(step["type"], "type");
  if ((step["n"] ?? n) !== n) return gap("n");
  if (type === "item_committed" || type === "item_replaced") return itemFact(state, step);
  const place = Object.hasOwn(step, "runId") ? {} : runFields(state, type);
  const known = { ...impliedFields(state, type, step), ...place };
  for (const [key, value] of Object.entries(known)) {
    if (value === undefined && !Object.hasOwn(step, key)) return gap(key);
  }
  const decoded = fact.decode({ ...whole(state), ...known, ...step }, "");
  if (decoded.type === "opaque" && !Object.hasOwn(step, "n"))
    return malformed("type", "a known type");
  return decoded;
}

function whole({ sessionId, head }: SessionState): JsonObject {
  return { v: schemaVersion, sessionId, n: head + 1 };
}

const parts = idShape<PartId>();
type StoredFact = FactOf<"item_committed" | "item_replaced">;

function itemFact(state: SessionState, step: JsonObject): Fact {
  const { item } = step;
  if (item === undefined) return laneItem(state, step);
  const rows = isJsonObject(item) ? item["parts"] : undefined;
  if (!isJsonObject(item) || !Array.isArray(rows) || !rows.some(isText))
    return fact.decode({ ...whole(state), ...step }, "");
  const given = { ...item, parts: rows.filter((row) => !isText(row)) };
  const decoded = fact.decode({ ...whole(state), ...step, item: given }, "") as StoredFact;
  const queued = decoded.inputId && queuedParts(state, decoded.inputId);
  return withParts(decoded, rows, (row, at) => {
    const waiting = queued?.[at];
    return waiting && { ...waiting, id: parts.decode(row, `item.parts[${at}]`) };
  });
}

function isText(row: unknown): row is string {
  return typeof row === "string";
}

/** The item of an open lane, at exactly the place that the step names. */
function laneItem(state: SessionState, step: JsonObject): Fact {
  const { type, time, at, parts: told, ...own } = step;
  // The epoch too: an attempt that was lost and the one before it may stand at the same number.
  const lane = state.lanes.find((open) => positionText(open) === at);
  if (lane === undefined) return gap("at");
  const { itemId: id, author, model, epoch, runId, turnId, draft } = lane;
  const rows: unknown = told ?? draft.parts.map((part) => part.id);
  if (!Array.isArray(rows)) return malformed("parts", "a list");
  const held = rows.filter((row) => !isText(row));
  const item = { stop: "end", ...own, id, author, model, parts: held };
  const base = { ...whole(state), type, time, lane: lane.lane, epoch, runId, turnId };
  const decoded = fact.decode({ ...base, item }, "") as StoredFact;
  return withParts(decoded, rows, (row) => partOf(lane, row as PartId));
}

/** The fact with the parts that its rows name among those that they hold. */
function withParts(
  stored: StoredFact,
  rows: readonly unknown[],
  find: (row: string, at: number) => Part | undefined,
): Fact {
  const given = stored.item.parts.values();
  const parts = rows.map((row, at): Part => {
    const part = isText(row) ? find(row, at) : given.next().value;
    return part ?? gap(`parts[${at}]`);
  });
  return { ...stored, item: { ...stored.item, parts } };
}
