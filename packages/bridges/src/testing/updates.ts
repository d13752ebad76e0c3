import { emptyDraft, fold } from "@millrace/core";
import { commitDraft, itemId } from "@millrace/core/writing";
import type { Delta, Item, Part } from "@millrace/core";
import type { Update } from "@millrace/core/writing";

export interface Written {
  readonly items: readonly Item[];
  readonly updates: readonly Update[];
}

/** Applies a bridge's updates as a session does. A fault is an error of the test. */
export async function written(updates: AsyncIterable<Update>): Promise<Written> {
  const all: Update[] = [];
  const items: Item[] = [];
  let draft = emptyDraft();
  for await (const update of updates) {
    all.push(update);
    if (update.op === "replace_item") throw new Error("a bridge replaces no item");
    if (update.op !== "commit_item") {
      draft = fold(draft, update);
      if (draft.fault !== undefined)
        throw new Error(JSON.stringify({ fault: draft.fault, update }));
      continue;
    }
    const { op: _, usage, model, ...ending } = update;
    const head = { id: itemId(`i${items.length + 1}`), author: "agent" as const, usage, model };
    items.push(commitDraft(draft, head, ending));
    draft = emptyDraft();
  }
  if (draft.parts.length > 0) throw new Error("deltas after the last commit_item");
  return { items, updates: all };
}

/** A short description of each part. */
export function sketch(parts: readonly Part[]): readonly string[] {
  return parts.map((part) => {
    switch (part.kind) {
      case "text":
      case "reasoning":
        return `${part.kind}: ${part.text}`;
      case "tool_call":
        return `call ${part.callId} ${part.tool} ${part.raw}${part.fault === undefined ? "" : ` !${part.fault.code}`}`;
      case "tool_result":
        return `result ${part.callId} ${part.tool} ${part.status} ${part.text}${JSON.stringify(part.output) ?? ""}`;
      case "custom":
        return `custom ${part.name}`;
      case "media":
      case "file":
        return `${part.kind} ${part.mediaType} ${part.url ?? String(part.bytes?.length)}`;
      default:
        return part.kind;
    }
  });
}

/** The text chunks of one kind of part, in the order in which a viewer gets them. */
export function chunksOf(updates: readonly Update[], kind: string): readonly string[] {
  const ids = new Set<string>();
  return updates.flatMap((update) => {
    if (update.op === "commit_item") ids.clear();
    if (update.op === "begin_part" && update.kind === kind) ids.add(update.partId);
    return isAppend(update) && ids.has(update.partId) ? [update.chunk] : [];
  });
}

function isAppend(update: Update): update is Extract<Delta, { readonly op: "append_text" }> {
  return update.op === "append_text";
}
