import type { JsonObject } from "@millrace/core";
import { objectAt } from "../read.ts";
import { isThinking, merged } from "./entry.ts";
import type { Entry } from "./entry.ts";

/** Models that think only if they are asked to. Later ones think unless they are told not to. */
const silent = /claude-(?:[0-3]|instant|(?:opus|sonnet|haiku)-4)(?!\d)/;

/**
 * Makes thinking and its setting agree. In the run of tools that goes on, the vendor demands that each
 * answer to the user begins with thinking if it is enabled, and that there is none if it is off: both
 * are refused otherwise. Earlier runs are free, and so are modes in which the model decides.
 */
export function withThinking(
  entries: readonly Entry[],
  settings: JsonObject,
  model: string,
): { readonly entries: readonly Entry[]; readonly settings: JsonObject } {
  const given = objectAt(settings, "thinking")?.["type"];
  const mode = given ?? (silent.test(model) ? "disabled" : "adaptive");
  const start = lastFreshUser(entries) + 1;
  if (mode === "disabled") return { entries: withoutThinking(entries, start), settings };
  // A paused turn and the one before it are one message to the vendor.
  const joined = merged(entries.map((entry) => ({ ...entry, paused: false })));
  if (mode !== "enabled" || isThoughtOut(joined, lastFreshUser(joined) + 1)) {
    return { entries, settings };
  }
  const { thinking: _, ...rest } = settings;
  return { entries: withoutThinking(entries, start), settings: rest };
}

/** The last message in which the user speaks and answers nothing. */
function lastFreshUser(entries: readonly Entry[]): number {
  return entries.findLastIndex(
    ({ role, content }) =>
      role === "user" && !content.some((block) => block?.["type"] === "tool_result"),
  );
}

/** Whether each message that follows something the user said begins with thinking. */
function isThoughtOut(entries: readonly Entry[], start: number): boolean {
  return entries.every(({ role, content }, at) => {
    if (at < start || role === "user") return true;
    const before = entries[at - 1]?.content ?? [];
    if (at > start && before.every((block) => block?.["type"] === "tool_result")) return true;
    const first = content.find((block) => block !== undefined && !isMark(block));
    return first === undefined || isThinking(first);
  });
}

/** Blocks that the vendor itself puts before the thinking. */
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
