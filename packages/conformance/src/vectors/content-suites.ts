import { emptyDraft, fold } from "@millrace/core";
import { decodeDelta, encodeDelta } from "@millrace/core/wire";
import {
  checkTranscript,
  coalesce,
  defaultDraftLimits,
  foldAll,
  parseArguments,
  repairTranscript,
} from "@millrace/core/writing";
import type { Delta, Draft, Item, Json, JsonObject } from "@millrace/core";
import type { JsonLimits } from "@millrace/core/wire";
import type { DraftLimits } from "@millrace/core/writing";
import { differences } from "./compare.ts";
import { decodeDeltas, decodeItem, list, record, showPart, text, toJson } from "./plain.ts";

/** `{ limits?, deltas }` to `{ fault, parts }`. */
export function answerFold(input: JsonObject): Json {
  const { deltas, refused } = readDeltas(list(input["deltas"]));
  const empty = emptyDraft(draftLimits(input["limits"]));
  const { parts, at } = foldSingly(empty, deltas);
  const draft = foldAll(empty, deltas);
  const shown = draft.parts.map(showPart);
  if (differences(shown, parts.map(showPart)).length > 0)
    throw new Error("many deltas at once fold to another draft than one by one");
  const fault =
    draft.fault === undefined ? (refused ?? null) : { code: draft.fault.code, at: at ?? null };
  return { fault, parts: shown };
}

/** `{ deltas, text?, bytes? }` to `{ deltas }`. */
export function answerCoalesce(input: JsonObject): Json {
  const merged = coalesce(decodeDeltas(input["deltas"]), input);
  return { deltas: merged.map(encodeDelta) };
}

/** `{ raw, limits? }` to `{ input }` or `{ fault }`. */
export function answerArguments(input: JsonObject): Json {
  const limits = { ...defaultDraftLimits.json, ...(input["limits"] as Partial<JsonLimits>) };
  const parsed = parseArguments(text(input["raw"]), limits);
  return toJson(parsed.fault === undefined ? parsed : { fault: parsed.fault.code });
}

/** `{ items }` to `{ faults, repaired }`. */
export function answerTranscript(input: JsonObject): Json {
  const items = list(input["items"]).map(decodeItem);
  const known = new Set(items.map((item) => item.id));
  const faults = checkTranscript(items)
    .map(({ code, itemId, callId }) => ({
      code,
      itemId,
      ...(callId === undefined ? {} : { callId }),
    }))
    .toSorted((left, right) => compareText(JSON.stringify(left), JSON.stringify(right)));
  const repaired = repairTranscript(items).items.map((item) => ({
    // The id of an item that a repair adds is not specified.
    id: known.has(item.id) ? item.id : null,
    author: item.author,
    parts: item.parts.map(showItemPart),
  }));
  return toJson({ faults, repaired });
}

/** The deltas up to the first invalid one, and its fault. */
function readDeltas(values: readonly Json[]): {
  readonly deltas: readonly Delta[];
  readonly refused?: JsonObject;
} {
  const deltas: Delta[] = [];
  for (const value of values) {
    const decoded = decodeDelta(value);
    if (!decoded.ok) return { deltas, refused: { code: decoded.fault.code, at: deltas.length } };
    deltas.push(decoded.value);
  }
  return { deltas };
}

/** Folds one by one, so that `fold` is tested as well as `foldAll`. */
function foldSingly(
  empty: Draft,
  deltas: readonly Delta[],
): { readonly parts: Draft["parts"]; readonly at: number | undefined } {
  let draft = empty;
  let at: number | undefined;
  for (const [index, delta] of deltas.entries()) {
    draft = fold(draft, delta);
    if (draft.fault !== undefined) at ??= index;
  }
  return { parts: draft.parts, at };
}

function draftLimits(given: Json | undefined): DraftLimits {
  if (given === undefined) return defaultDraftLimits;
  const { json, ...limits } = record(given);
  return {
    ...defaultDraftLimits,
    ...(limits as Partial<DraftLimits>),
    json: { ...defaultDraftLimits.json, ...(json as Partial<JsonLimits>) },
  };
}

function showItemPart(part: Item["parts"][number]): object {
  if (part.kind === "tool_call") return { kind: part.kind, callId: part.callId };
  if (part.kind !== "tool_result") return { kind: part.kind };
  const { kind, callId, status, synthetic } = part;
  return { kind, callId, status, synthetic };
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}
