import type { Json, JsonObject } from "@millrace/core";
import { isJsonObject } from "@millrace/core/json";
import type { ModelSettings } from "@millrace/core/ports";
import type { SettingRows, SettingsTable } from "../../settings.ts";
import { alwaysReasons } from "../openai-models.ts";
import { openaiRows } from "../openai-settings.ts";

const limits = ["max_completion_tokens", "max_tokens"];

const rows: SettingRows = {
  maxTokens: {
    kind: "sent",
    as: ["max_completion_tokens"],
    rivals: limits,
    fields: (tokens) => ({ max_completion_tokens: tokens }),
  },
  ...openaiRows("reasoning_effort", ["30m"]),
  stop: {
    kind: "sent",
    as: ["stop"],
    limits: "up to 4 texts; not for models that always reason, such as gpt-5",
    fields: (stop, { model }) => {
      if (alwaysReasons(model)) return "the model takes none: leave the setting out";
      if (typeof stop !== "string" && stop.length > 4) return "use up to 4 texts";
      return { stop };
    },
  },
  seed: { kind: "sent", as: ["seed"], fields: (seed) => ({ seed }) },
  toolChoice: {
    kind: "sent",
    as: ["tool_choice"],
    fields: (choice) => ({ tool_choice: choiceOf(choice) }),
  },
};

function choiceOf(choice: NonNullable<ModelSettings["toolChoice"]>): Json {
  if (typeof choice === "string") return choice;
  return { type: "function", function: { name: choice.tool } };
}

/** How chat completions of OpenAI take settings. */
export const openaiChatSettings: SettingsTable = {
  vendor: "OpenAI's chat completions API",
  rows,
};

/** The fields that servers have by the names of shared settings, such as `thinking: { type: "enabled" }`. */
const isOwn = (value: Json): boolean => isJsonObject(value) && Object.hasOwn(value, "type");

/**
 * How servers that imitate chat completions take settings. OpenAI's rules for its own models do not hold
 * there: what is given is sent, and the server decides. A server that differs has rows of its own.
 */
export function compatibleSettings(own: Partial<SettingRows> = {}): SettingsTable {
  return { vendor: "A chat completions API", rows: { ...compatibleRows, ...own } };
}

const compatibleRows: SettingRows = {
  ...rows,
  maxTokens: {
    kind: "sent",
    as: ["max_tokens"],
    rivals: limits,
    fields: (tokens) => ({ max_tokens: tokens }),
  },
  temperature: { kind: "sent", as: ["temperature"], fields: (temperature) => ({ temperature }) },
  topP: { kind: "sent", as: ["top_p"], fields: (topP) => ({ top_p: topP }) },
  stop: { kind: "sent", as: ["stop"], fields: (stop) => ({ stop }) },
  effort: {
    kind: "sent",
    as: ["reasoning_effort"],
    fields: (effort): JsonObject => ({ reasoning_effort: effort }),
  },
  thinking: {
    kind: "sent",
    as: ["reasoning_effort"],
    limits: `false alone; servers switch thinking on by fields of their own`,
    isOwn,
    fields: (thinking) =>
      thinking === false
        ? { reasoning_effort: "none" }
        : "use effort, or the server's own field, such as chat_template_kwargs: { enable_thinking: true }",
  },
  showThinking: {
    kind: "inherent",
    how: "what the server sends of it is shown",
    limits: "can't be switched off here",
    unless: (isShown) =>
      isShown ? undefined : "leave the setting out, or use the server's own field",
  },
  cache: {
    kind: "sent",
    as: ["prompt_cache_key"],
    limits:
      "what is kept, and for how long, is the server's decision; key is sent, and ttl refused",
    fields: (cache) => {
      const { key, ttl } = typeof cache === "boolean" ? {} : cache;
      if (ttl !== undefined) return "leave ttl out: the server decides how long it keeps a prompt";
      return key === undefined ? {} : { prompt_cache_key: key };
    },
  },
  metadata: { kind: "sent", as: ["metadata"], fields: (metadata) => ({ metadata }) },
};
