import type { Part } from "../content/part.ts";
import type { Delta } from "../delta/delta.ts";
import { textOf } from "../delta/draft.ts";
import type { Draft, DraftPart } from "../delta/draft.ts";
import { fold } from "../delta/fold.ts";
import { restate } from "../delta/restate.ts";
import { findPart } from "../delta/verify.ts";
import type { CallId, ItemId, PartId } from "../ids.ts";
import type { Narration } from "./narration.ts";

/** What deltas add to the narration, given the draft before them. */
export function narrateDeltas(
  itemId: ItemId,
  draft: Draft,
  deltas: readonly Delta[],
): readonly Narration[] {
  let current = draft;
  return deltas.flatMap((delta) => {
    const narrations = narrateDelta(itemId, current, delta);
    current = fold(current, delta);
    return narrations;
  });
}

export function narrateDelta(itemId: ItemId, draft: Draft, delta: Delta): readonly Narration[] {
  if (delta.op === "begin_part") return delta.kind === "tool_call" ? [called(delta)] : [];
  const part = draft.parts[findPart(draft.parts, delta.partId)];
  if (delta.op === "append_text")
    return part?.state === "open" ? narrateText(itemId, part.begin, delta.partId, delta.chunk) : [];
  return delta.op === "commit_part" ? narrateCommit(itemId, part, delta.part) : [];
}

/** What a commit adds: all of a part that was never streamed, and that a call is ready or refused. */
function narrateCommit(
  itemId: ItemId,
  before: DraftPart | undefined,
  part: Part,
): readonly Narration[] {
  const streamed = before?.state === "open" && textOf(before) !== "";
  const text = part.kind === "tool_call" ? part.raw : "text" in part ? part.text : "";
  const narrations: Narration[] = [];
  if (before === undefined && part.kind === "tool_call") narrations.push(called(part));
  if (!streamed) narrations.push(...narrateText(itemId, part, part.id, text));
  if (part.kind !== "tool_call") return narrations;
  const { callId, tool } = part;
  narrations.push(
    part.input === undefined
      ? { type: "tool_call_refused", callId, tool, fault: part.fault }
      : { type: "tool_call_ready", callId, tool, input: part.input },
  );
  return narrations;
}

function called({ callId, tool }: { readonly callId: CallId; readonly tool: string }): Narration {
  return { type: "tool_call_started", callId, tool };
}

type NarratedPart = {
  readonly kind: Part["kind"];
  readonly callId?: CallId;
  readonly tool?: string;
};

function narrateText(
  itemId: ItemId,
  part: NarratedPart,
  partId: PartId,
  text: string,
): readonly Narration[] {
  if (text === "") return [];
  if (part.kind === "text") return [{ type: "assistant_text_delta", itemId, partId, text }];
  if (part.kind === "reasoning") return [{ type: "reasoning_delta", itemId, partId, text }];
  const { callId, tool } = part;
  if (callId === undefined || tool === undefined) return [];
  if (part.kind === "tool_call") return [{ type: "tool_call_arguments_delta", callId, tool, text }];
  return [{ type: "tool_output_delta", callId, tool, text }];
}

/** The deltas that lead from one draft of an attempt to a later one. */
export function missing(before: Draft, after: Draft): readonly Delta[] {
  return restate(after).flatMap((delta): readonly Delta[] => {
    const known = before.parts[findPart(before.parts, delta.partId)];
    if (known === undefined) return [delta];
    if (known.state === "committed" || delta.op === "begin_part") return [];
    if (delta.op === "append_text")
      return [{ ...delta, chunk: delta.chunk.slice(textOf(known).length) }];
    if (delta.op !== "commit_part") return [delta];
    const text =
      delta.part.kind === "tool_call"
        ? delta.part.raw
        : "text" in delta.part
          ? delta.part.text
          : "";
    const rest = text.slice(textOf(known).length);
    return rest === ""
      ? [delta]
      : [{ op: "append_text", partId: delta.partId, chunk: rest }, delta];
  });
}
