import type { JsonObject } from "@millrace/core";
import type { RequestUpdate } from "@millrace/core/model";
import { continuation } from "@millrace/core/model";
import { resultText } from "../prepare.ts";
import type { Answer, Turn, UpdateTurn } from "../prepare.ts";
import { modelBlocks } from "./assistant.ts";
import type { OfferedNames } from "./assistant.ts";
import { breakpoint, isMarkedResult, userBlocks } from "./content.ts";
import { isThinking, merged, withoutLastThinking } from "./entry.ts";
import type { Entry } from "./entry.ts";
import { textAt } from "../read.ts";
import { functionTool } from "./tools.ts";
import { isBlank } from "./events.ts";

/** Converts turns to messages, one for each change of the role. */
export function entriesOf(
  turns: readonly (Turn | UpdateTurn)[],
  offered: OfferedNames,
): readonly Entry[] {
  return merged(
    turns.flatMap((turn) => [
      entryOf(turn, offered),
      ...(turn.role === "update" ? noteOf(turn.update) : []),
    ]),
  );
}

function noteOf({ notes }: RequestUpdate): readonly Entry[] {
  if (notes === undefined) return [];
  const content = [{ type: "text", text: notes.toWellFormed() }];
  return [{ role: "system", content, paused: false, isNote: true }];
}

function entryOf(turn: Turn | UpdateTurn, offered: OfferedNames): Entry {
  switch (turn.role) {
    case "user":
      return { role: "user", content: turn.parts.flatMap(userBlocks), paused: false };
    case "tool":
      return { role: "user", content: answerBlocks(turn.answers), paused: false };
    case "model": {
      const content = turn.parts.flatMap((part) => modelBlocks(part, turn, offered));
      // The vendor refuses thinking after a call, at the end of a message, and of two replies in a row.
      const call = content.findIndex((block) => block?.["type"] === "tool_use");
      const legal = content.filter((block, at) => call < 0 || at < call || !isThinking(block));
      return { role: "assistant", content: withoutLastThinking(legal), paused: turn.paused };
    }
    case "update":
      return { role: "system", content: updateBlocks(turn.update), paused: false };
    default:
      return turn satisfies never;
  }
}

/** New words, and tools that are added or removed. A tool that is added again replaces the former one. */
function updateBlocks({ text, added = [], removed = [] }: RequestUpdate): readonly JsonObject[] {
  return [
    ...(text === undefined ? [] : [{ type: "text", text: text.toWellFormed() }]),
    ...added.map((tool): JsonObject => {
      const definition = functionTool(tool);
      return { type: "tool_addition", tool: { type: "tool_definition", definition } };
    }),
    ...removed.map((name): JsonObject => {
      return { type: "tool_removal", tool: { type: "tool_reference", name } };
    }),
  ];
}

/**
 * Moves updates behind the input that follows them: the vendor takes them only behind a message of the user,
 * and before a reply or at the end. A request that got no reply leaves its update before the next input.
 */
function floated(entries: readonly Entry[]): readonly Entry[] {
  const moved = [...entries];
  for (let at = moved.length - 2; at >= 0; at -= 1) {
    for (let to = at; moved[to]?.role === "system" && moved[to + 1]?.role === "user"; to += 1)
      moved.splice(to, 2, ...moved.slice(to, to + 2).toReversed());
  }
  return moved;
}

/** Results first, as the vendor requires, then media of failed tools. */
function answerBlocks(answers: readonly Answer[]): readonly JsonObject[] {
  const results: JsonObject[] = [];
  const beside: JsonObject[] = [];
  for (const { result, parts } of answers) {
    const failed = result.status !== "ok";
    const output = resultText(result).toWellFormed();
    const text = isBlank(output) ? (failed ? `(${result.status})` : "(no output)") : output;
    const made = parts.map(userBlocks);
    // An error result may contain text only, and no result a file for the vendor's code.
    const isBeside = (blocks: readonly JsonObject[]): boolean => failed || blocks.some(isUpload);
    beside.push(...made.filter(isBeside).flat());
    const inside = made.filter((blocks) => !isBeside(blocks)).flat();
    // A mark is taken behind a result, and not inside.
    const isMarked = [isMarkedResult(result), ...inside.map(isMarkedBlock)].includes(true);
    const content =
      inside.length === 0 ? text : [{ type: "text", text }, ...inside.map(withoutMark)];
    results.push({
      type: "tool_result",
      tool_use_id: result.callId,
      content,
      ...(failed ? { is_error: true } : {}),
      ...(isMarked ? { cache_control: breakpoint } : {}),
    });
  }
  return [...results, ...beside];
}

function isMarkedBlock(block: JsonObject): boolean {
  return block["cache_control"] !== undefined;
}

function withoutMark(block: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(block).filter(([key]) => key !== "cache_control"));
}

function isUpload(block: JsonObject): boolean {
  return block["type"] === "container_upload";
}

/**
 * The final message list. It begins with the user or a signed summary, and ends with the user or a turn to
 * resume; with anything, if it is only to be summarised.
 */
export function finished(
  entries: readonly Entry[],
  { mayEndAnyhow }: { readonly mayEndAnyhow: boolean },
): readonly JsonObject[] {
  const sent = merged(
    entries.map((entry) => ({
      ...entry,
      content: withoutGaps(withoutLastThinking(entry.content)),
    })),
  );
  const last = sent.at(-1);
  const resumed = last !== undefined && isResumed(last);
  const whole = merged(floated(merged(sent.map((entry) => ({ ...entry, paused: false })))));
  const user = { role: "user", content: [{ type: "text", text: continuation }] };
  const messages = whole.map(({ role, content, isNote = false }): JsonObject => {
    const blocks = content.filter((block) => block !== undefined);
    if (isNote) return { role, content: blocks, clear_at: "next_user_message" };
    return { role, content: role === "system" ? blocks : resultsFirst(blocks) };
  });
  return [
    ...(whole[0]?.role === "user" || isSummary(whole[0]) ? [] : [user]),
    ...messages,
    ...(last?.role === "assistant" && !resumed && !mayEndAnyhow ? [user] : []),
  ];
}

function isSummary(entry: Entry | undefined): boolean {
  const [block] = entry?.content ?? [];
  return block?.["type"] === "compaction" && block["signature"] !== undefined;
}

/** True if the vendor can resume the turn. Text alone would be read as a prefill. */
function isResumed({ paused, content }: Entry): boolean {
  return paused && content.some((block) => isOwnWork(textAt(block ?? {}, "type") ?? ""));
}

/**
 * True for the type of a block, or the name of its part, that is unfinished work of the vendor.
 */
export function isOwnWork(type: string): boolean {
  return type.endsWith("_tool_use") || type === "compaction";
}

/**
 * Drops gaps. Two runs of thinking with a gap between them stay separated by a text, because the
 * vendor refuses them joined.
 */
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
