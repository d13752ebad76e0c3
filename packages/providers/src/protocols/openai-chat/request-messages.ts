import type { Json, JsonObject } from "@millrace/core";
import { resultText } from "../prepare.ts";
import type { ModelTurn, ToolTurn, Turn, UserPart } from "../prepare.ts";
import { assistantOf } from "./request-assistant.ts";
import type { AssistantRules } from "./request-assistant.ts";
import { checkOptions, contentOf, textContent } from "./request-content.ts";
import type { ContentRules } from "./request-content.ts";
import { objectOf } from "./events.ts";
import { bareField } from "./parts.ts";
import { WireIds } from "../wire-ids.ts";

/**
 * Converts turns to messages. Adjacent messages of one role are joined, because some servers
 * require alternating roles. Media that tools made follow their results as a user message, because
 * results are text.
 */
export function messagesOf(
  turns: readonly Turn[],
  model: string,
  rules: ContentRules,
): readonly JsonObject[] {
  const messages: JsonObject[] = [];
  const loops = loopsOf(turns);
  const ids = new WireIds(model);
  const demandsReasoning = demanding.test(model) || turns.some(hasBareReasoning);
  const common = { demandsReasoning, model, ids };
  for (const [at, turn] of turns.entries()) {
    switch (turn.role) {
      case "user":
        addUser(
          messages,
          turn.parts.flatMap((part) => contentOf(part, rules)),
        );
        break;
      case "tool":
        addAnswers(messages, turn, ids, rules);
        break;
      case "model":
        addAssistant(messages, turn, { ...common, inLoop: loops[at] === true });
        break;
      default:
        turn satisfies never;
    }
  }
  return messages;
}

function addUser(messages: JsonObject[], parts: readonly JsonObject[]): void {
  const last = messages.at(-1);
  const joins = last?.["role"] === "user";
  const all = joins ? [...partsOf(last), ...parts] : parts;
  const content = all.every((part) => part["type"] === "text" && Object.keys(part).length === 2)
    ? // Plain text where possible: some servers take nothing else.
      all.map(({ text }) => text as string).join("\n\n")
    : all;
  if (joins) messages.pop();
  messages.push({ role: "user", content });
}

function partsOf({ content }: JsonObject): readonly JsonObject[] {
  return typeof content === "string" ? [textContent(content)] : (content as readonly JsonObject[]);
}

function addAnswers(
  messages: JsonObject[],
  { answers }: ToolTurn,
  ids: WireIds,
  rules: ContentRules,
): void {
  const shown: JsonObject[] = [];
  for (const { result, parts } of answers) {
    const written = parts.filter((part) => part.kind === "text");
    for (const part of [result, ...written]) checkOptions(part);
    const texts = written.map(({ text }) => text);
    const content = [resultText(result), ...texts].join("\n\n");
    const id = ids.of(result.callId);
    messages.push({ role: "tool", tool_call_id: id, content });
    const media = parts.filter((part: UserPart) => part.kind !== "text");
    if (media.length === 0) continue;
    shown.push(
      textContent(`Made by ${result.tool} (${id}):`),
      ...media.flatMap((part) => contentOf(part, rules)),
    );
  }
  if (shown.length > 0) addUser(messages, shown);
}

function addAssistant(messages: JsonObject[], turn: ModelTurn, rules: AssistantRules): void {
  const message = assistantOf(turn, rules);
  if (message === undefined) return;
  const last = messages.at(-1);
  const joins = last?.["role"] === "assistant" && !("tool_calls" in last);
  const joinedText = joins ? joinTexts(last["content"], message["content"]) : undefined;
  if (joins && joinedText !== undefined) {
    messages[messages.length - 1] = { ...last, ...message, content: joinedText };
  } else messages.push(message);
}

/** The joined text, or undefined if either is more than text. */
function joinTexts(first: Json | undefined, second: Json | undefined): string | undefined {
  if (typeof first !== "string") return undefined;
  if (second === null) return first;
  return typeof second === "string" ? `${first}\n\n${second}` : undefined;
}

/** For each turn, whether tools were called between the user turns around it. */
function loopsOf(turns: readonly Turn[]): readonly boolean[] {
  const loops: boolean[] = [];
  let start = 0;
  for (let end = 0; end <= turns.length; end += 1) {
    if (end < turns.length && turns[end]?.role !== "user") continue;
    const stretch = turns.slice(start, end);
    const called = stretch.some(({ role }) => role === "tool");
    for (const _ of stretch) loops.push(called);
    start = end;
  }
  return loops;
}

/** Models that refuse a call without the reasoning before it, in every later request. */
const demanding = /deepseek-(?:v[4-9]|reasoner)|kimi-k[2-9]/;

function hasBareReasoning(turn: Turn): boolean {
  if (turn.role !== "model") return false;
  return turn.parts.some(
    (part) => part.kind === "reasoning" && objectOf(part.opaque)?.["field"] === bareField,
  );
}
