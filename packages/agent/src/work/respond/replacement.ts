import { emptyDraft } from "@millrace/core";
import { foldAll, partId } from "@millrace/core/writing";
import { checkJson } from "@millrace/core/wire";
import type { Draft, Part, PartId, TextPart } from "@millrace/core";
import type { DraftPart, Metadata, ReplaceItem } from "@millrace/core/writing";
import { illegalUpdate } from "./failure.ts";
import type { AgentFailure } from "./failure.ts";

/** The complete new content of an item. */
export type Replacement = Pick<ReplaceItem, "content"> & {
  readonly metadata?: Metadata | undefined;
};

/** The part id of text whose writer names no part. */
export const firstPart: PartId = partId("p1");

/**
 * The parts that replace the draft, or the failure if one of them is illegal by itself. Part ids stay
 * the writer's; a plain text becomes one part with the given id.
 */
export function replaced(
  draft: Draft,
  { content, metadata: given }: Replacement,
  id: PartId,
): { readonly parts: readonly Part[]; readonly metadata?: Metadata } | AgentFailure {
  const streamed = draft.parts.find(isText);
  const metadata = given ?? (streamed && metadataOf(streamed));
  const aside = metadata === undefined ? {} : { metadata };
  if (typeof content === "string") {
    const text: TextPart = { kind: "text", id, text: content.toWellFormed(), ...aside };
    return unsound(draft, [text]) ?? { parts: [text] };
  }
  const wrong = metadata && checkJson(metadata, draft.limits.json);
  if (wrong) {
    const message = `its metadata is not plain JSON within the limits: ${wrong.code}`;
    return illegalUpdate("replace_item", { code: "malformed_value", partId: id, message });
  }
  return unsound(draft, content) ?? { parts: content, ...aside };
}

function unsound({ limits }: Draft, parts: readonly Part[]): AgentFailure | undefined {
  const commits = parts.map((part) => ({ op: "commit_part", partId: part.id, part }) as const);
  const { fault } = foldAll(emptyDraft(limits), commits);
  return fault && illegalUpdate("replace_item", fault);
}

function isText(part: DraftPart): boolean {
  return (part.state === "open" ? part.begin.kind : part.part.kind) === "text";
}

function metadataOf(part: DraftPart): Metadata | undefined {
  if (part.state === "open") return part.metadata;
  return part.part.kind === "opaque" ? undefined : part.part.metadata;
}
