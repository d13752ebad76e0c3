import type { JsonObject } from "@millrace/core";
import { continuation, resultText } from "../prepare.ts";
import type { Answer, Turn } from "../prepare.ts";
import { modelBlocks } from "./assistant.ts";
import { userBlocks } from "./content.ts";
import { isThinking, merged, withoutLastThinking } from "./entry.ts";
import type { Entry } from "./entry.ts";
import { textAt } from "../read.ts";
import { isBlank, withoutLastSpace } from "./events.ts";

/** The turns as messages, one for each change of the speaker. */
export function entriesOf(turns: readonly Turn[]): readonly Entry[] {
  return merged(turns.map(entryOf));
}

function entryOf(turn: Turn): Entry {
  switch (turn.role) {
    case "user":
      return { role: "user", content: turn.parts.flatMap(userBlocks), paused: false };
    case "tool":
      return { role: "user", content: answerBlocks(turn.answers), paused: false };
    case "model": {
      const content = turn.parts.flatMap((part) => modelBlocks(part, turn));
      // Thinking of two replies must not meet, none may end a message, and none comes behind a call.
      const call = content.findIndex((block) => block?.["type"] === "tool_use");
      const legal = content.filter((block, at) => call < 0 || at < call || !isThinking(block));
      return { role: "assistant", content: withoutLastThinking(legal), paused: turn.paused };
    }
    default:
      return turn satisfies never;
  }
}

/** First the results, as the vendor demands, then what tools made beside a failure. */
function answerBlocks(answers: readonly Answer[]): readonly JsonObject[] {
  const results: JsonObject[] = [];
  const beside: JsonObject[] = [];
  for (const { result, parts } of answers) {
    const failed = result.status !== "ok";
    const said = resultText(result).toWellFormed();
    const text = isBlank(said) ? (failed ? `(${result.status})` : "(no output)") : said;
    const made = parts.flatMap(userBlocks);
    // A result that is an error may hold text only.
    if (failed) beside.push(...made);
    const content = failed || made.length === 0 ? text : [{ type: "text", text }, ...made];
    results.push({
      type: "tool_result",
      tool_use_id: result.callId,
      content,
      ...(failed ? { is_error: true } : {}),
    });
  }
  return [...results, ...beside];
}

/** The list as the vendor takes it: from the user to the user, or to a turn that goes on. */
export function finished(entries: readonly Entry[]): readonly JsonObject[] {
  const sent = merged(
    entries.map((entry) => ({
      ...entry,
      content: withoutGaps(withoutLastThinking(entry.content)),
    })),
  );
  const last = sent.at(-1);
  const resumed = last !== undefined && isResumed(last);
  const whole = merged(sent.map((entry) => ({ ...entry, paused: false })));
  const user = { role: "user", content: [{ type: "text", text: continuation }] };
  const messages = whole.map(({ role, content }, at): JsonObject => {
    const blocks = content.filter((block) => block !== undefined);
    const isLast = resumed && at === whole.length - 1;
    return { role, content: isLast ? trimmed(blocks) : resultsFirst(blocks) };
  });
  return [
    ...(whole[0]?.role === "user" ? [] : [user]),
    ...messages,
    ...(last?.role === "assistant" && !resumed ? [user] : []),
  ];
}

/** Whether the vendor has something of its own to go on with. Words alone it would take for ours. */
function isResumed({ paused, content }: Entry): boolean {
  return paused && content.some((block) => isOwnWork(textAt(block ?? {}, "type") ?? ""));
}

/** True for the type of a block, and the name of its part, that is work of the vendor under way. */
export function isOwnWork(type: string): boolean {
  return type.endsWith("_tool_use") || type === "compaction";
}

/** Two runs of thinking that something stood between must stay two, or the vendor refuses both. */
function withoutGaps(content: Entry["content"]): readonly JsonObject[] {
  const kept: JsonObject[] = [];
  let gap = false;
  for (const block of content) {
    if (block === undefined) {
      gap = true;
      continue;
    }
    if (gap && isThinking(block) && isThinking(kept.at(-1))) kept.push({ type: "text", text: "…" });
    gap = false;
    kept.push(block);
  }
  return kept;
}

function resultsFirst(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const isResult = (block: JsonObject): boolean => block["type"] === "tool_result";
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}

/** The last text of the last turn must not end in white space. */
function trimmed(blocks: readonly JsonObject[]): readonly JsonObject[] {
  const last = blocks.at(-1);
  const text = last?.["type"] === "text" ? textAt(last, "text") : undefined;
  if (last === undefined || text === undefined) return blocks;
  return [...blocks.slice(0, -1), { ...last, text: withoutLastSpace(text) }];
}
