import type { Delta } from "./delta.ts";
import { joinBytes, textOf } from "./draft.ts";
import type { Draft, OpenPart } from "./draft.ts";

/**
 * The fewest deltas that fold to this draft: what a viewer that joins now is sent instead of all that
 * was streamed. A few for each part, however many deltas made it.
 */
export function restate(draft: Draft): readonly Delta[] {
  return draft.parts.flatMap((part) =>
    part.state === "open"
      ? restateOpen(part)
      : [{ op: "commit_part" as const, partId: part.id, part: part.part }],
  );
}

function restateOpen(part: OpenPart): readonly Delta[] {
  const { id: partId, bytes, value, metadata } = part;
  const deltas: Delta[] = [part.begin];
  const text = textOf(part);
  if (text !== "") deltas.push({ op: "append_text", partId, chunk: text });
  if (bytes !== undefined) deltas.push({ op: "append_bytes", partId, chunk: joinBytes(bytes) });
  if (value !== undefined) deltas.push({ op: "replace_structured", partId, value });
  if (metadata !== undefined) deltas.push({ op: "set_metadata", partId, metadata });
  return deltas;
}
