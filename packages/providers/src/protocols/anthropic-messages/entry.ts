import type { JsonObject } from "@millrace/core";

/** One message of a request under construction. A gap marks a block that could not be sent. */
export interface Entry {
  readonly role: "user" | "assistant" | "system";
  readonly content: readonly (JsonObject | Gap)[];
  /** True for the vendor's own paused turn, which comes last and is resumed. */
  readonly paused: boolean;
}

export type Gap = undefined;

/** Joins adjacent messages of one role and drops empty ones. A paused turn stays separate. */
export function merged(entries: readonly Entry[]): readonly Entry[] {
  const joined: { role: Entry["role"]; content: (JsonObject | Gap)[]; paused: boolean }[] = [];
  for (const { role, content, paused } of entries) {
    if (content.every((block) => block === undefined)) continue;
    const last = joined.at(-1);
    if (last?.role === role && !paused) last.content.push(...content);
    else joined.push({ role, content: [...content], paused });
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
