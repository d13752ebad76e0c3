import type { Part, PartKind } from "../content/part.ts";
import type { CallId, PartId } from "../ids.ts";
import type { Json, Metadata } from "../json.ts";

/**
 * One operation on a part that is being written. Deltas are transient: they exist between a model's
 * bytes and a committed part, and `fold` is the only function that takes them in.
 *
 * The operations describe how a part is streamed, not what it will be: `append_text` serves
 * text, reasoning, tool arguments and tool output alike, so a new kind of part needs no new one.
 */
export type Delta =
  | BeginPart
  | AppendText
  | AppendBytes
  | ReplaceStructured
  | SetMetadata
  | CommitPart;

/** Starts a part, with all that a viewer needs to show it before any content is there. */
export type BeginPart = { readonly op: "begin_part"; readonly partId: PartId } & PartOpening;

/** What a part is from its first moment. A tool call is named before its arguments arrive. */
export type PartOpening =
  | { readonly kind: "text" | "reasoning" | "structured" }
  | { readonly kind: "tool_call" | "tool_result"; readonly callId: CallId; readonly tool: string }
  | { readonly kind: "media"; readonly mediaType: string }
  | { readonly kind: "file"; readonly name: string; readonly mediaType: string }
  | { readonly kind: "custom"; readonly name: string };

/** Well-formed text only: no chunk begins or ends inside a character. `wholeText` sees to that. */
export interface AppendText {
  readonly op: "append_text";
  readonly partId: PartId;
  readonly chunk: string;
}

export interface AppendBytes {
  readonly op: "append_bytes";
  readonly partId: PartId;
  readonly chunk: Uint8Array;
}

/** The new value whole. Nothing is merged into the old one. */
export interface ReplaceStructured {
  readonly op: "replace_structured";
  readonly partId: PartId;
  readonly value: Json;
}

/** Sets the part's metadata, or replaces it whole. */
export interface SetMetadata {
  readonly op: "set_metadata";
  readonly partId: PartId;
  readonly metadata: Metadata;
}

/**
 * Ends a part. What was streamed must equal what is committed, or the writer is at fault; what was
 * never streamed may come whole with the commit. A part may be committed without being begun.
 */
export interface CommitPart {
  readonly op: "commit_part";
  readonly partId: PartId;
  readonly part: Part;
}

/** How each kind of part is filled. One table for `verify`, `fold` and writers of deltas. */
export const fillOf: Readonly<Record<PartKind, "text" | "bytes" | "value">> = {
  text: "text",
  reasoning: "text",
  tool_call: "text",
  tool_result: "text",
  media: "bytes",
  file: "bytes",
  structured: "value",
  custom: "value",
};

/**
 * Splits off half a character at the end of a chunk, to be put before the next one. Vendors cut
 * inside surrogate pairs; a half must never travel alone, since UTF-8 has no way to write it.
 */
export function wholeText(
  held: string,
  chunk: string,
): { readonly text: string; readonly held: string } {
  const text = held + chunk;
  const last = text.charCodeAt(text.length - 1);
  const half = last >= 0xd800 && last <= 0xdbff;
  return half ? { text: text.slice(0, -1), held: text.slice(-1) } : { text, held: "" };
}
