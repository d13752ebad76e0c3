import type { ParsedArguments } from "../content/arguments.ts";
import type { Part } from "../content/part.ts";
import type { BeginPart, Delta } from "./delta.ts";
import { isWellFormed } from "../text.ts";
import { joinBytes, textOf } from "./draft.ts";
import type { Draft, DraftPart, OpenPart } from "./draft.ts";
import { findPart, textLimit, verifyAt } from "./verify.ts";

/**
 * The only function from deltas to content: loop, writer, server, browser, terminal and tests all
 * use this one, so they can't disagree. Pure: the draft given stays as it was. An illegal delta
 * marks the draft with a fault and changes nothing else. Costs O(1) for each character that comes
 * in, plus a copy of the list of parts.
 */
export function fold(draft: Draft, delta: Delta): Draft {
  if (draft.fault !== undefined) return draft;
  const { parts, limits, check } = draft;
  const at = findPart(parts, delta.partId);
  const part = at < 0 ? undefined : parts[at];
  const fault = verifyAt(draft, part, delta);
  if (fault !== undefined) return { parts, fault, limits, check };
  const changed = step(part, delta);
  // Most items have one part while they are written; a literal is the cheapest copy of a list of one.
  if (at === 0 && parts.length === 1) return { parts: [changed], fault: undefined, limits, check };
  const next = parts.slice();
  next[at < 0 ? parts.length : at] = changed;
  return { parts: next, fault: undefined, limits, check };
}

/**
 * Folds many deltas, as if one after the other. A run of appends to one part, which is what a batch
 * mostly is, costs little more than adding its strings.
 */
export function foldAll(draft: Draft, deltas: readonly Delta[]): Draft {
  let current = draft;
  for (let at = 0; at < deltas.length && current.fault === undefined;) {
    const run = textRun(current, deltas, at);
    if (run === undefined) {
      current = fold(current, deltas[at] as Delta);
      at += 1;
    } else {
      current = run.draft;
      at = run.end;
    }
  }
  return current;
}

/** What one legal delta makes of its part. */
function step(part: DraftPart | undefined, delta: Delta): DraftPart {
  if (delta.op === "commit_part") return { state: "committed", id: delta.partId, part: delta.part };
  if (delta.op === "begin_part") return openPart(delta);
  const open = part as OpenPart; // verify has seen that it is there and open
  switch (delta.op) {
    case "append_text":
      return appended(open, open.tail + delta.chunk);
    case "append_bytes": {
      if (delta.chunk.length === 0) return open;
      // A copy, because the caller may reuse its buffer for the next read.
      const length = (open.bytes?.length ?? 0) + delta.chunk.length;
      return { ...open, bytes: { chunk: delta.chunk.slice(), before: open.bytes, length } };
    }
    case "replace_structured":
      return { ...open, value: delta.value };
    case "set_metadata":
      return { ...open, metadata: delta.metadata };
    default:
      delta satisfies never;
      return open;
  }
}

function openPart(begin: BeginPart): OpenPart {
  return { state: "open", id: begin.partId, begin, settled: "", tail: "" };
}

/** Tails are made flat at this length. */
export const tailLength = 2_048;

/** The part with its tail replaced, which settles once it is long. */
export function appended(part: OpenPart, tail: string): OpenPart {
  const settles = tail.length >= tailLength && makeFlat(tail);
  // Written out: a spread here costs more than all the rest of an append. Text has no bytes and no value.
  const next: OpenPart = {
    state: "open",
    id: part.id,
    begin: part.begin,
    settled: settles ? part.settled + tail : part.settled,
    tail: settles ? "" : tail,
  };
  return part.metadata === undefined ? next : { ...next, metadata: part.metadata };
}

/**
 * A pattern is matched against flat text only, so matching one frees the pieces of the sum. Reading
 * a character would do it too, but a compiler may drop that, since its result is unused.
 */
function makeFlat(text: string): boolean {
  return /[^]/.test(text);
}

/** The appends from `start` on that go to one open part, folded in one go. */
function textRun(
  draft: Draft,
  deltas: readonly Delta[],
  start: number,
): { draft: Draft; end: number } | undefined {
  const first = deltas[start];
  if (first?.op !== "append_text") return undefined;
  const at = findPart(draft.parts, first.partId);
  const part = draft.parts[at];
  if (part?.state !== "open" || verifyAt(draft, part, first) !== undefined) return undefined;
  const room = textLimit(draft, part) - part.settled.length;
  let tail = part.tail + first.chunk;
  let end = start + 1;
  for (; end < deltas.length && tail.length < tailLength; end += 1) {
    const delta = deltas[end] as Delta;
    if (delta.op !== "append_text" || delta.partId !== first.partId) break;
    if (tail.length + delta.chunk.length > room || !isWellFormed(delta.chunk)) break;
    tail += delta.chunk;
  }
  const parts = draft.parts.slice();
  parts[at] = appended(part, tail);
  const { limits, check } = draft;
  return { draft: { parts, fault: undefined, limits, check }, end };
}

/**
 * The part as it would be committed now. Writers commit with this, so that only the fold assembles
 * content. A tool call's arguments are parsed here and not earlier.
 */
export function assemblePart(open: OpenPart, parse: (raw: string) => ParsedArguments): Part {
  const { begin } = open;
  const text = textOf(open);
  const base =
    open.metadata === undefined ? { id: open.id } : { id: open.id, metadata: open.metadata };
  switch (begin.kind) {
    case "text":
    case "reasoning":
      return { ...base, kind: begin.kind, text };
    case "tool_call":
      return {
        ...base,
        kind: "tool_call",
        callId: begin.callId,
        tool: begin.tool,
        raw: text,
        ...parse(text),
      };
    case "tool_result":
      return {
        ...base,
        kind: "tool_result",
        callId: begin.callId,
        tool: begin.tool,
        status: "ok",
        text,
      };
    case "media":
      return { ...base, kind: "media", mediaType: begin.mediaType, bytes: joinBytes(open.bytes) };
    case "file":
      return {
        ...base,
        kind: "file",
        name: begin.name,
        mediaType: begin.mediaType,
        bytes: joinBytes(open.bytes),
      };
    case "structured":
      return { ...base, kind: "structured", value: open.value ?? null };
    case "custom":
      return { ...base, kind: "custom", name: begin.name, value: open.value ?? null };
    default:
      begin satisfies never;
      throw new TypeError("unreachable");
  }
}
