import type { JsonObject } from "@millrace/core";
import { objectAt } from "../read.ts";
import { isThinking, merged } from "./entry.ts";
import type { Entry } from "./entry.ts";

/** Models that think only if the settings enable it. Later models think unless it is disabled. */
const thinksOnRequest = /claude-(?:[0-3]|instant|(?:opus|sonnet|haiku)-4)(?!\d)/;

/**
 * Makes thinking blocks and the thinking setting agree. In the current run of tool calls the vendor
 * requires that each assistant message begins with thinking if it is enabled, and has none if it is
 * disabled. Earlier runs are not checked, nor is adaptive thinking. While settings disable it no thinking is
 * sent at all, so that requests begin alike.
 */
export function withThinking(
  entries: readonly Entry[],
  settings: JsonObject,
  model: string,
): { readonly entries: readonly Entry[]; readonly settings: JsonObject } {
  const given = objectAt(settings, "thinking")?.["type"];
  const mode = given ?? (thinksOnRequest.test(model) ? "disabled" : "adaptive");
  const start = given === "disabled" ? 0 : lastFreshUser(entries) + 1;
  if (mode === "disabled") return { entries: withoutThinking(entries, start), settings };
  // To the vendor, a paused turn and the turn before it are one message.
  const joined = merged(entries.map((entry) => ({ ...entry, paused: false })));
  if (mode !== "enabled" || beginsWithThinking(joined, lastFreshUser(joined) + 1)) {
    return { entries, settings };
  }
  const { thinking: _, ...rest } = settings;
  return { entries: withoutThinking(entries, start), settings: rest };
}

/** The index of the last user message without tool results. */
function lastFreshUser(entries: readonly Entry[]): number {
  return entries.findLastIndex(
    ({ role, content }) =>
      role === "user" && !content.some((block) => block?.["type"] === "tool_result"),
  );
}

/** True if each message that follows user input begins with thinking. */
function beginsWithThinking(entries: readonly Entry[], start: number): boolean {
  return entries.every(({ role, content }, at) => {
    if (at < start || role !== "assistant") return true;
    const before = entries[at - 1]?.content ?? [];
    if (at > start && before.every((block) => block?.["type"] === "tool_result")) return true;
    const first = content.find((block) => block !== undefined && !isMark(block));
    return first === undefined || isThinking(first);
  });
}

/** Blocks that the vendor itself puts before thinking. */
function isMark(block: JsonObject): boolean {
  return block["type"] === "compaction" || block["type"] === "fallback";
}

function withoutThinking(entries: readonly Entry[], start: number): readonly Entry[] {
  return entries.map((entry, at) =>
    at < start || entry.role === "user"
      ? entry
      : { ...entry, content: entry.content.filter((block) => !isThinking(block)) },
  );
}
