import { call, fail, say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";
import type { Model } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";

/** What the suite's model does, by the first word of the last thing that a person sent. */
export const httpCommands: Readonly<Record<string, string>> = {
  "say <text>": "the text, to the letter",
  "slow <words> <ms>": "so many words, one by one, with a pause before each",
  "big <characters>": "a text of this length",
  "call <tool> <json>": "calls the tool, and says `done: <result>` afterwards",
  "call:<id> <tool> <json>": "the same with this call id",
  "fail <message>": "the reply fails, and is not tried again",
};

/**
 * A model without a state: what it replies depends on the transcript only, so that any number of sessions,
 * processes and restarts share it. Anything that is no command is repeated.
 */
export function createHttpModel(): Model {
  return {
    id: "conformance/http",
    stream: (request) => {
      const { parts, delayMs } = replyTo(request);
      const chunk = delayMs === undefined ? "whole" : [wordLength];
      return scriptedModel([parts], { id: "conformance/http", chunk, delayMs }).stream(request);
    },
  };
}

/** The length of each word of a slow reply, with its space. */
const wordLength = 8;

/** The whole text of `slow <words>`. */
export function slowText(words: number): string {
  return Array.from({ length: words }, (_, at) => `w${String(at).padStart(6, "0")} `).join("");
}

interface PlannedReply {
  readonly parts: readonly ScriptedPart[];
  readonly delayMs?: number | undefined;
}

function replyTo({ transcript }: ModelRequest): PlannedReply {
  const last = transcript.at(-1);
  if (last?.author === "tool") return { parts: [say(`done: ${textOf(last.parts)}`)] };
  const asked = textOf(transcript.findLast(({ author }) => author === "user")?.parts ?? []);
  const [command, rest] = split(asked);
  if (command === "say") return { parts: [say(rest)] };
  if (command === "big") return { parts: [say("x".repeat(Number(rest)))] };
  if (command === "fail") return { parts: [fail("scripted", rest, { retryable: false })] };
  if (command === "slow") {
    const [words, ms] = split(rest);
    return { parts: [say(slowText(Number(words)))], delayMs: Number(ms) };
  }
  const called = /^call(?::(?<id>.+))?$/.exec(command);
  if (called === null) return { parts: [say(`You said: ${asked}`)] };
  const [tool, json] = split(rest);
  const callId = called.groups?.["id"] ?? `call_${transcript.length}`;
  return { parts: [call(tool, JSON.parse(json === "" ? "{}" : json), { callId })] };
}

/** The first word, and what follows its space. */
function split(text: string): readonly [string, string] {
  const at = text.search(/\s/);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function textOf(parts: readonly object[]): string {
  return parts.map((part) => ("text" in part ? String(part.text) : "")).join("");
}
