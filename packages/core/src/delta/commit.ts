import { parseArguments } from "../content/arguments.ts";
import type { Author, Ending, Item } from "../content/item.ts";
import { isCutStop } from "../content/item.ts";
import type { Part } from "../content/part.ts";
import type { Usage } from "../content/usage.ts";
import type { ItemId, PartId } from "../ids.ts";
import type { Delta } from "./delta.ts";
import type { Metadata } from "../json.ts";
import type { Draft, DraftLimits, OpenPart } from "./draft.ts";
import { assemblePart } from "./fold.ts";
import { findPart } from "./verify.ts";

/** What an item needs beyond its parts. */
export type ItemHead = {
  readonly id: ItemId;
  readonly author: Author;
  readonly usage?: Usage | undefined;
  readonly model?: string | undefined;
  readonly metadata?: Metadata | undefined;
};

/**
 * Commits a draft to an item. Success needs proof: with a fault in the draft, or a part left open,
 * an ending such as `end` becomes `failed`. What came is kept either way; a tool call that was cut
 * keeps its text, has the fault `truncated`, and so can never run.
 */
export function commitDraft(draft: Draft, head: ItemHead, ending: Ending): Item {
  const { id, author, usage, model, metadata } = head;
  return {
    id,
    author,
    parts: partsOf(draft),
    ...(usage === undefined ? {} : { usage }),
    ...(model === undefined ? {} : { model }),
    ...(metadata === undefined ? {} : { metadata }),
    ...provenEnding(draft, ending),
  };
}

/** All parts of a draft as if it ended now. */
export function partsOf(draft: Draft): readonly Part[] {
  return draft.parts.map((part) =>
    part.state === "open" ? cutPart(part, draft.limits) : part.part,
  );
}

/** The ending that the draft bears out. */
export function provenEnding(draft: Draft, ending: Ending): Ending {
  if (isCutStop(ending.stop)) return ending;
  if (draft.fault !== undefined) {
    const { code, message, partId } = draft.fault;
    return { stop: "failed", cause: { code, message: `part ${partId}: ${message}` } };
  }
  const open = draft.parts.find((part) => part.state === "open");
  if (open === undefined) return ending;
  const message = `part ${open.id} was begun and never committed, though the reply ended as ${ending.stop}`;
  return { stop: "failed", cause: { code: "part_left_open", message } };
}

function cutPart(open: OpenPart, limits: DraftLimits): Part {
  const part = wholePart(open, limits);
  if (part.kind === "tool_result") return { ...part, status: "aborted" };
  if (part.kind !== "tool_call") return part;
  const { input: _, fault: __, ...call } = part;
  return { ...call, fault: { code: "truncated" } };
}

/** The commit of an open part, or nothing if the draft has no such part open. */
export function commitOf(draft: Draft, id: PartId): Delta | undefined {
  const part = draft.parts[findPart(draft.parts, id)];
  if (part?.state !== "open") return undefined;
  return { op: "commit_part", partId: id, part: wholePart(part, draft.limits) };
}

function wholePart(open: OpenPart, limits: DraftLimits): Part {
  return assemblePart(open, (raw) => parseArguments(raw, limits.json));
}
