import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject, Part, Transcript } from "@millrace/core";

const itemIds = /"((?:rs|msg|fc|ctc|ws|fs|ci|ig|mcpr?|cu|sh|lsh|apc)_\w*\d\w*)"/g;

/**
 * Items that the vendor wrote after reasoning can't be sent without it, if they are sent by their
 * ids. Which items belong together is only in the transcript and in the vendor's storage.
 */
export function validatePairs(body: JsonObject, transcript: Transcript, author: string): string[] {
  const input = Array.isArray(body["input"]) ? (body["input"] as readonly Json[]) : [];
  const sent = new Set(input.flatMap((item) => (isJsonObject(item) ? [item["id"]] : [])));
  const needs = new Map<string, Set<string | undefined>>();
  for (const { model, parts } of transcript) {
    if (model === author) collectNeeds(parts, needs);
  }
  // A duplicate id may be sent for the item that needs no reasoning.
  return [...needs]
    .filter(([id, before]) => sent.has(id) && ![...before].some((each) => isThere(each, sent)))
    .map(([id, before]) => `$.input: ${id} without ${[...before].join(" or ")}`);
}

function isThere(id: string | undefined, sent: ReadonlySet<Json | undefined>): boolean {
  return id === undefined || sent.has(id);
}

function collectNeeds(parts: readonly Part[], needs: Map<string, Set<string | undefined>>): void {
  let reasoning: string | undefined;
  for (const part of parts) {
    const ids = idsOf(part);
    const named = ids.find((id) => id.startsWith("rs_"));
    if (part.kind === "reasoning") {
      reasoning = named;
      continue;
    }
    const own = ids.find((id) => !id.startsWith("rs_"));
    if (own === undefined) continue;
    const before = needs.get(own) ?? new Set();
    needs.set(own, before.add(named ?? reasoning));
  }
}

function idsOf(part: Part): readonly string[] {
  if (part.kind === "opaque" || part.kind === "tool_result") return [];
  const hidden = part.kind === "custom" ? { id: idOf(part.value) } : opaqueOf(part);
  const texts = JSON.stringify([part.metadata ?? null, hidden]);
  return Array.from(texts.matchAll(itemIds), ([, id]) => id ?? "");
}

function opaqueOf(part: Part): Json {
  return part.kind === "reasoning" || part.kind === "tool_call" ? (part.opaque ?? null) : null;
}

function idOf(value: Json): Json {
  return isJsonObject(value) ? (value["id"] ?? null) : null;
}
