import type { JsonObject } from "@millrace/core";

/** One message of a request while it is made. A gap stands where a block could not be sent. */
export interface Entry {
  readonly role: "user" | "assistant";
  readonly content: readonly (JsonObject | Gap)[];
  /** The vendor's own turn that it paused: it comes last, and goes on. */
  readonly paused: boolean;
}

export type Gap = undefined;

/** Joins neighbours of one role, and leaves out what is empty. A paused turn stays by itself. */
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

/** No message may end in thinking. */
export function withoutLastThinking(content: Entry["content"]): Entry["content"] {
  const end = content.findLastIndex((block) => block !== undefined && !isThinking(block));
  return content.slice(0, end + 1);
}
