import type { Model } from "@millrace/core";
import type { ModelRequest } from "@millrace/core/ports";
import { call, say, scriptedModel, think } from "@millrace/core/testing";
import type { ScriptedPart } from "@millrace/core/testing";

/**
 * A model that needs no key: it plays a little script, so that one can see how text, reasoning, tools
 * and questions look. The same question gets the same answer.
 */
export function demoModel(delayMs = 12): Model {
  const id = "scripted/demo";
  return {
    id,
    stream: (request) => scriptedModel([replyTo(request)], { id, delayMs }).stream(request),
  };
}

function replyTo({ transcript, tools = [] }: ModelRequest): readonly ScriptedPart[] {
  const last = transcript.at(-1);
  const has = (name: string): boolean => tools.some((tool) => tool.name === name);
  const result = last?.parts.find((part) => part.kind === "tool_result");
  if (result?.kind === "tool_result") {
    return [say(`The ${result.tool} tool came back as ${result.status}.`)];
  }
  const asked = last?.parts.map((part) => (part.kind === "text" ? part.text : "")).join(" ") ?? "";
  if (/\btime\b/i.test(asked) && has("time")) {
    return [think("A tool knows the time."), call("time", {})];
  }
  if (/\bshell\b|\brun\b/i.test(asked) && has("shell")) {
    return [call("shell", { command: "echo hello from the shell" })];
  }
  return [
    think("I am a script, so this takes no thought."),
    say(
      "I am a script, not a model: I need no key and know nothing. Ask me for the time, or tell me to run something in the shell. Press Ctrl-C while I write, leave, and take this session up again: what came is kept.",
    ),
  ];
}
