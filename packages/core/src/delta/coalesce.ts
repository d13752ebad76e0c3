import { checkJson } from "../json.ts";
import { isWellFormed } from "../text.ts";
import type { AppendBytes, AppendText, Delta } from "./delta.ts";
import { noDraftLimits } from "./draft.ts";

/** How far neighbours are merged. Left out: without end. */
export interface CoalesceOptions {
  /** Text chunks stop growing at this many UTF-16 units. */
  readonly text?: number | undefined;
  /** Byte chunks stop growing at this many bytes. */
  readonly bytes?: number | undefined;
}

/**
 * Merges neighbouring deltas of one part without loss: folding the result gives the same draft. When
 * to call it, by time or by size, is the caller's choice. Only neighbours merge, so the order of
 * parts and the moment at which each one began stay what they were. Linear in the content.
 */
export function coalesce(
  deltas: readonly Delta[],
  options: CoalesceOptions = {},
): readonly Delta[] {
  const merged: Delta[] = [];
  for (let at = 0; at < deltas.length;) {
    const end = endOfRun(deltas, at, options);
    merged.push(mergeRun(deltas, at, end));
    at = end;
  }
  return merged;
}

/** Where the run of deltas that can be one delta ends. */
function endOfRun(deltas: readonly Delta[], start: number, options: CoalesceOptions): number {
  const first = deltas[start] as Delta;
  let end = start + 1;
  const room = limitOf(first, options);
  if (!canMerge(first)) return end;
  for (let size = sizeOf(first); end < deltas.length; end += 1) {
    const next = deltas[end] as Delta;
    if (next.op !== first.op || next.partId !== first.partId) break;
    size += sizeOf(next);
    if (size > room || !canMerge(next)) break;
  }
  return end;
}

/** An illegal delta is not merged: inside its neighbour it would no longer be found. */
function canMerge(delta: Delta): boolean {
  switch (delta.op) {
    case "append_text":
      return isWellFormed(delta.chunk);
    case "append_bytes":
      return true;
    case "replace_structured":
      return checkJson(delta.value, noDraftLimits.json) === undefined;
    case "set_metadata":
      return checkJson(delta.metadata, noDraftLimits.json) === undefined;
    case "begin_part":
    case "commit_part":
      return false;
    default:
      delta satisfies never;
      return false;
  }
}

function mergeRun(deltas: readonly Delta[], start: number, end: number): Delta {
  const first = deltas[start] as Delta;
  if (end - start === 1) return first;
  const run = deltas.slice(start, end);
  if (first.op === "append_text") {
    return { ...first, chunk: run.map((delta) => (delta as AppendText).chunk).join("") };
  }
  if (first.op === "append_bytes") {
    return { ...first, chunk: concatBytes(run.map((delta) => (delta as AppendBytes).chunk)) };
  }
  return run.at(-1) as Delta; // of replacements only the last one has an effect
}

function limitOf(delta: Delta, options: CoalesceOptions): number {
  if (delta.op === "append_text") return options.text ?? Infinity;
  return delta.op === "append_bytes" ? (options.bytes ?? Infinity) : Infinity;
}

function sizeOf(delta: Delta): number {
  return delta.op === "append_text" || delta.op === "append_bytes" ? delta.chunk.length : 0;
}

function concatBytes(chunks: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}
