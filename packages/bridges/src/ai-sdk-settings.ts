import { isJsonObject } from "@millrace/core/json";
import type { Json, Part, Transcript } from "@millrace/core";
import type { ModelSettings } from "@millrace/core/ports";
import { optionsOf } from "@millrace/providers/protocol-kit";
import type { OptionRules, SettingsTable } from "@millrace/providers/protocol-kit";

const vendor = "The AI SDK";
const byProvider = "use the provider's own option, in providerOptions";

/** How the AI SDK takes settings. Version 3 of its specification has no effort. */
export function aiSdkSettings(version: "v3" | "v4"): SettingsTable {
  return {
    vendor,
    rows: {
      maxTokens: {
        kind: "sent",
        as: ["maxOutputTokens"],
        fields: (tokens) => ({ maxOutputTokens: tokens }),
      },
      temperature: {
        kind: "sent",
        as: ["temperature"],
        fields: (temperature) => ({ temperature }),
      },
      topP: { kind: "sent", as: ["topP"], fields: (topP) => ({ topP }) },
      stop: {
        kind: "sent",
        as: ["stopSequences"],
        fields: (stop) => ({ stopSequences: typeof stop === "string" ? [stop] : stop }),
      },
      seed: { kind: "sent", as: ["seed"], fields: (seed) => ({ seed }) },
      toolChoice: {
        kind: "sent",
        as: ["toolChoice"],
        isOwn: (value) => isJsonObject(value) && Object.hasOwn(value, "type"),
        fields: (choice) => ({ toolChoice: choiceOf(choice) }),
      },
      parallelTools: { kind: "refused", instead: byProvider },
      effort: {
        kind: "sent",
        as: ["reasoning"],
        limits: "models of version 4 of the specification",
        fields: (effort) => (version === "v3" ? byProvider : { reasoning: effort }),
      },
      thinking: {
        kind: "refused",
        instead: `use effort, or the provider's own option, in providerOptions`,
      },
      showThinking: { kind: "refused", instead: byProvider },
      cache: { kind: "refused", instead: byProvider },
      serviceTier: { kind: "refused", instead: byProvider },
      metadata: { kind: "refused", instead: byProvider },
    },
  };
}

function choiceOf(choice: NonNullable<ModelSettings["toolChoice"]>): Json {
  return typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.tool };
}

const none = "the AI SDK has no option for it that all providers share: leave it out";
const rules: OptionRules = { detail: none, citations: none, cache: none, context: none };

/** Refuses options of parts. */
export function refuseOptions(transcript: Transcript): void {
  const check = (part: Part): unknown => optionsOf(part, vendor, rules);
  for (const { author, parts } of transcript) {
    if (author === "user" || author === "tool") for (const part of parts) check(part);
  }
}
