import { isJsonObject } from "@millrace/core/json";
import type { Item, ItemId, JsonObject, ToolResultPart } from "@millrace/core";
import { fits } from "../text-bytes.ts";
import { headAndTail } from "./trim.ts";

/** The bytes of a result that a model is given, unless its tool sets another limit. */
export const defaultOutputBytes: number = 64 * 1_024;

/** The name of the tool by which a model reads what was left out. */
export const readOutputName = "read_output";

/** A result as text: its text, else the JSON of what the tool returned. Offsets count in this text. */
export function resultText({ text, output }: ToolResultPart): string {
  if (text !== "" || output === undefined) return text;
  return typeof output === "string" ? output : JSON.stringify(output);
}

/**
 * How much of a result a model is given, and what its note calls it: stored with the result, so that requests
 * stay the same when the tool's limit changes. Undefined if the usual limit holds and the call's id names it.
 */
export function shownOutput(
  part: ToolResultPart,
  limit: number,
  earlier: readonly Item[],
  own: ItemId,
): JsonObject | undefined {
  const isLong = !fits(resultText(part), Math.min(limit, defaultOutputBytes));
  if (!isLong) return undefined;
  const isTaken = earlier.some(({ parts }) =>
    parts.some((each) => each.kind === "tool_result" && each.callId === part.callId),
  );
  if (!isTaken && limit === defaultOutputBytes) return undefined;
  // No limit is not a number of JSON.
  return { bytes: Math.min(limit, Number.MAX_SAFE_INTEGER), ...(isTaken ? { name: own } : {}) };
}

function shownOf({ metadata }: ToolResultPart): Partial<JsonObject> {
  const shown = metadata?.["shown"];
  return isJsonObject(shown) ? shown : {};
}

/**
 * The items with long results given by head and tail, and a note on how to read the rest. The
 * stored items are not changed. Nothing to trim: the same array.
 */
export function trimOutputs(
  items: readonly Item[],
  options: {
    /** All items of the session: what a note calls a result doesn't depend on what is covered. */
    readonly session: readonly Item[];
    readonly outputBytes?: ((part: ToolResultPart) => number) | undefined;
  },
): readonly Item[] {
  const { session, outputBytes = () => defaultOutputBytes } = options;
  let names: ReadonlyMap<ToolResultPart, string> | undefined;
  let changed = false;
  const trim = (part: ToolResultPart): ToolResultPart => {
    const { bytes } = shownOf(part);
    const limit = typeof bytes === "number" ? bytes : outputBytes(part);
    const whole = resultText(part);
    if (fits(whole, limit)) return part;
    names ??= new Map(namedOutputs(session));
    const name = names.get(part) ?? part.callId;
    const text = headAndTail(whole, limit, ({ leftOut, total, offset }) => {
      const input = JSON.stringify({ callId: name, offset });
      return `\n[${leftOut} of ${total} bytes are left out here. ${readOutputName} with ${input} reads them.]\n`;
    });
    if (text === whole) return part;
    changed = true;
    // A codec that sends the output instead of the text would send all of it.
    const { output: _, ...rest } = part;
    return { ...rest, text };
  };
  const trimmed = items.map((item) => {
    const parts = mapped(item.parts, (part) => (part.kind === "tool_result" ? trim(part) : part));
    return parts === item.parts ? item : { ...item, parts };
  });
  return changed ? trimmed : items;
}

/**
 * Each result with a name that is its own. Mostly its call id; vendors use those again, and then the
 * later one gets a number. Names depend on earlier results only, so a note once given stays true.
 */
export function* namedOutputs(
  items: readonly Item[],
): Generator<readonly [part: ToolResultPart, name: string], void, undefined> {
  const seen = new Set<ToolResultPart>();
  const taken = new Set<string>();
  const counts = new Map<string, number>();
  for (const part of items.flatMap((item) => item.parts)) {
    if (part.kind !== "tool_result" || seen.has(part)) continue;
    seen.add(part);
    const { name: stored } = shownOf(part);
    if (typeof stored === "string" && !taken.has(stored)) {
      taken.add(stored);
      yield [part, stored];
      continue;
    }
    let count = (counts.get(part.callId) ?? 0) + 1;
    let name = count === 1 ? part.callId : `${part.callId}#${count}`;
    while (taken.has(name)) name = `${part.callId}#${(count += 1)}`;
    counts.set(part.callId, count);
    taken.add(name);
    yield [part, name];
  }
}

/** As `map`, but the same array if nothing changed. */
function mapped<T>(rows: readonly T[], change: (row: T) => T): readonly T[] {
  let copy: T[] | undefined;
  for (const [at, row] of rows.entries()) {
    const next = change(row);
    if (next !== row) (copy ??= [...rows])[at] = next;
  }
  return copy ?? rows;
}
