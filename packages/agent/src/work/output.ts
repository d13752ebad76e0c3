import { parseJson } from "@millrace/core/wire";
import type { Item, RunId } from "@millrace/core";
import { describeIssues } from "../schema/schema.ts";
import type { Schema } from "../schema/schema.ts";
import type { Journal, WorkHost } from "./host.ts";

/** Whether the answer of a run has the requested shape. */
export type OutputVerdict =
  | { readonly state: "unchecked" | "valid" }
  | { readonly state: "invalid"; readonly message: string };

/** What the text of an answer comes to under the schema that was asked for. */
export type ReadOutput =
  | { readonly valid: true; readonly output: unknown }
  | { readonly valid: false; readonly message: string };

/** Reads the answer that a schema was asked for. Never throws: a schema that does finds it invalid. */
export async function readOutput(schema: Schema, text: string): Promise<ReadOutput> {
  const parsed = parseJson(unfenced(text));
  if (!parsed.ok) {
    return { valid: false, message: `the answer is not one JSON value: ${parsed.fault.code}` };
  }
  try {
    const checked = await schema["~standard"].validate(parsed.value);
    if (checked.issues === undefined) return { valid: true, output: checked.value };
    return { valid: false, message: describeIssues(checked.issues) };
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    return { valid: false, message: `the schema could not check the answer: ${said}` };
  }
}

/** Checks what the run that is on has answered. */
export async function checkOutput({ journal, wishes }: WorkHost): Promise<OutputVerdict> {
  const { run } = journal.standing;
  const schema = run === undefined ? undefined : wishes(run.runId).output;
  if (run === undefined || schema === undefined) return { state: "valid" };
  const read = await readOutput(schema, answerOf(journal, run.runId));
  return read.valid ? { state: "valid" } : { state: "invalid", message: read.message };
}

/** The text of the last item that a run wrote and that has any, summaries left out. */
export function answerOf({ facts, state }: Pick<Journal, "facts" | "state">, runId: RunId): string {
  const summaries = new Set(state.compactions.map(({ itemId }) => itemId));
  for (let at = facts.length - 1; at >= 0; at -= 1) {
    const fact = facts[at];
    if (fact?.type !== "item_committed" && fact?.type !== "item_replaced") continue;
    const { item } = fact;
    const own = fact.runId === runId && !summaries.has(item.id);
    const text = own && item.author !== "user" && item.author !== "tool" ? textOfItem(item) : "";
    if (text !== "") return text;
  }
  return "";
}

/** All text of an item, without what is not text. */
function textOfItem(item: Item): string {
  return item.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** Models that were not made to answer in JSON like to put it between fences. */
function unfenced(text: string): string {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?```\s*$/.exec(text);
  return fenced?.[1] ?? text;
}
