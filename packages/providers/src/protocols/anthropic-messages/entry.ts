import type { JsonObject } from "@millrace/core";

/** One message of a request under construction. A gap marks a block that could not be sent. */
export interface Entry {
  readonly role: "user" | "assistant" | "system";
  readonly content: readonly (JsonObject | Gap)[];
  /** True for the vendor's own paused turn, which comes last and is resumed. */
  readonly paused: boolean;
  /** True for a system message that the vendor leaves out once the next input has come. */
  readonly isNote?: boolean;
}

export type Gap = undefined;

/** Joins adjacent messages of one role and drops empty ones. A paused turn stays separate. */
export function merged(entries: readonly Entry[]): readonly Entry[] {
  const joined: (Entry & { content: (JsonObject | Gap)[] })[] = [];
  for (const { role, content, paused, isNote = false } of entries) {
    if (content.every((block) => block === undefined)) continue;
    const last = joined.at(-1);
    const isSame = last?.role === role && (last.isNote ?? false) === isNote;
    if (isSame && !paused) last.content.push(...content);
    else joined.push({ role, content: [...content], paused, ...(isNote ? { isNote } : {}) });
  }
  return joined;
}

export function isThinking(block: JsonObject | Gap): boolean {
  const type = block?.["type"];
  return type === "thinking" || type === "redacted_thinking";
}

/** Removes thinking blocks at the end: the vendor refuses a message that ends in one. */
export function withoutLastThinking(content: Entry["content"]): Entry["content"] {
  const end = content.findLastIndex((block) => block !== undefined && !isThinking(block));
  return content.slice(0, end + 1);
}
