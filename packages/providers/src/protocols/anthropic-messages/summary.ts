import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import type { Turn, UpdateTurn } from "../prepare.ts";
import { objectAt } from "../read.ts";
import { RequestRefusal } from "../refusal.ts";
import { features } from "./features.ts";

/**
 * Turns that begin with a summary, with the block that this model has signed in its place. The turn itself
 * has the words of it, for other models and for a vendor that refuses the block.
 */
export function withSummary(
  turns: readonly (Turn | UpdateTurn)[],
  author: string,
): readonly (Turn | UpdateTurn)[] {
  const [first, ...rest] = turns;
  if (first?.role !== "user") return turns;
  const [part, ...more] = first.parts;
  const { model, block } = objectAt(part?.metadata, "summary") ?? {};
  if (part === undefined || model !== author || !isJsonObject(block)) return turns;
  const summary = { kind: "custom", id: part.id, name: "compaction", value: block } as const;
  return [
    { role: "model", native: true, paused: false, parts: [summary] },
    ...(more.length === 0 ? [] : [{ ...first, parts: more }]),
    ...rest,
  ];
}

/** What asks for a summary. Refused here if the vendor refused it before: a reply would not be one. */
export function summaryFields(
  { summarise }: ModelRequest,
  off: ReadonlySet<string> | undefined,
): JsonObject {
  if (summarise === undefined) return {};
  if (off?.has(features.summaries) === true)
    throw new RequestRefusal("the vendor refuses to write signed summaries", {
      setting: "summarise",
    });
  const { instructions } = summarise;
  return {
    compaction: { type: "summarize", ...(instructions === undefined ? {} : { instructions }) },
  };
}
