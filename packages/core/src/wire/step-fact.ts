import { encode } from "./encode.ts";
import type { Fact, FactOf } from "../event/event.ts";
import { findLane } from "../event/state.ts";
import type { OpenLane, SessionState } from "../event/state.ts";
import type { Json, JsonObject } from "../json.ts";
import { part as partShape } from "./content-codec.ts";
import { fact } from "./event-codec.ts";
import { positionText } from "./cursor-codec.ts";
import { same } from "./same.ts";
import { impliedFields, partOf, runFields, queuedParts } from "./step-references.ts";

type StoredFact = FactOf<"item_committed" | "item_replaced">;

/** A fact for a reader whose state is `before`: without what that reader can fill in. */
export function factStep(before: SessionState, given: Fact): JsonObject {
  if (given.type === "item_committed" || given.type === "item_replaced")
    return itemStep(before, given);
  const fields: Readonly<Record<string, unknown>> = { ...given };
  const place = runFields(before, given.type);
  const known = impliedFields(before, given.type, fields);
  const leftOut = Object.keys(known).filter(
    (key) => known[key] !== undefined && same(known[key], fields[key]),
  );
  const isHere = Object.entries(place).every(
    ([key, value]) => value !== undefined && fields[key] === value,
  );
  return bare(given, isHere ? [...leftOut, ...Object.keys(place)] : leftOut);
}

/** An item by reference to the lane that wrote it, or to the input that it was; else with all its parts. */
function itemStep(before: SessionState, given: StoredFact): JsonObject {
  const lane = given.lane === undefined ? undefined : findLane(before, given.lane);
  if (lane !== undefined && isOf(lane, given)) return laneItemStep(lane, given);
  const step = bare(given, []);
  const queued = given.inputId === undefined ? undefined : queuedParts(before, given.inputId);
  if (queued === undefined) return step;
  const item = step["item"] as JsonObject;
  const parts = given.item.parts.map((part, at): Json => {
    const waiting = queued[at];
    const isIt = waiting !== undefined && same({ ...waiting, id: part.id }, part);
    // The original of a part that is not known holds its id too.
    return isIt && part.kind !== "opaque" ? part.id : encode(partShape, part);
  });
  return { ...step, item: { ...item, parts } };
}

/** Whether the fact has nothing of its lane's place but what the lane has. */
function isOf(lane: OpenLane, { item, epoch, runId, turnId, inputId }: StoredFact): boolean {
  return (
    lane.epoch === epoch &&
    lane.runId === runId &&
    lane.turnId === turnId &&
    lane.itemId === item.id &&
    lane.author === item.author &&
    lane.model === item.model &&
    inputId === undefined
  );
}

/** The item's own fields, and of its parts those that are not as the lane has them. */
function laneItemStep(lane: OpenLane, given: StoredFact): JsonObject {
  const { type, time, item } = given;
  const told = item.parts.map((part): Json => {
    return same(partOf(lane, part.id), part) ? part.id : encode(partShape, part);
  });
  const { draft } = lane;
  const isAll =
    told.length === draft.parts.length && told.every((id, at) => id === draft.parts[at]?.id);
  const encoded = encode(fact, { ...given, item: { ...item, parts: [] } })["item"] as JsonObject;
  const { id: _, author: __, model: ___, parts: ____, stop, ...own } = encoded;
  return {
    type,
    time,
    at: positionText(lane),
    ...(stop === "end" || stop === undefined ? {} : { stop }),
    ...own,
    ...(isAll ? {} : { parts: told }),
  };
}

/** A fact as JSON, without the fields that no step has and those that are left out here. */
function bare(given: Fact, leftOut: readonly string[]): JsonObject {
  const fields = Object.entries(encode(fact, given));
  // A type that its reader does not know is a fact by its number.
  const never = ["v", "sessionId", ...(given.type === "opaque" ? [] : ["n"]), ...leftOut];
  return Object.fromEntries(fields.filter(([key]) => !never.includes(key)));
}
