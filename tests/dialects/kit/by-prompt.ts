import type { Model } from "@millrace/core";
import { say, scriptedModel } from "@millrace/core/testing";
import type { ScriptedReply } from "@millrace/core/testing";

/** What a model answers to each prompt, and to the results that follow on it. */
export type Scripts = Readonly<Record<string, readonly ScriptedReply[]>>;

/** A model that answers by the last prompt and by how many results have come since. */
export function byPrompt(scripts: Scripts, delayMs: (prompt: string) => number = () => 2): Model {
  return {
    id: "scripted/by-prompt",
    stream: (request) => {
      const { transcript } = request;
      const at = transcript.findLastIndex(({ author }) => author === "user");
      const [part] = transcript[at]?.parts ?? [];
      const name = part?.kind === "text" ? part.text : "";
      const reply = transcript.slice(at).filter(({ author }) => author === "tool").length;
      const script = scripts[name]?.[reply] ?? [say("What?")];
      return scriptedModel([script], { delayMs: delayMs(name), chunk: [4] }).stream(request);
    },
  };
}
