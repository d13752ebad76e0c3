import type { JsonObject } from "@millrace/core";
import type { CacheSettings, ModelSettings } from "@millrace/core/ports";
import type { SettingContext, SentSetting, SettingRows } from "../settings.ts";
import {
  alwaysReasons,
  effortWord,
  gptVersion,
  reasons,
  reasonsOnRequest,
} from "./openai-models.ts";
import { valueAt } from "./read.ts";

/** A place for the effort: `reasoning_effort` in chat completions, `reasoning.effort` in Responses. */
export type EffortPath = "reasoning_effort" | "reasoning.effort";

/** The rows that OpenAI's two APIs share. */
export function openaiRows(
  effortPath: EffortPath,
  ttls: readonly string[],
): Pick<
  SettingRows,
  | "temperature"
  | "topP"
  | "parallelTools"
  | "effort"
  | "thinking"
  | "showThinking"
  | "cache"
  | "serviceTier"
  | "metadata"
> {
  return {
    temperature: {
      kind: "sent",
      as: ["temperature"],
      limits: `up to 2; not for models that always reason, such as gpt-5, unless it is 1; from gpt-5.1 on with effort "none" only`,
      fields: (temperature, given) => {
        if (temperature > 2) return "use a number from 0 to 2";
        if (temperature === 1 && alwaysReasons(given.model)) return { temperature };
        return samplingFault(given, effortPath) ?? { temperature };
      },
    },
    topP: {
      kind: "sent",
      as: ["top_p"],
      limits: "as temperature",
      fields: (topP, given) => samplingFault(given, effortPath) ?? { top_p: topP },
    },
    parallelTools: {
      kind: "sent",
      as: ["parallel_tool_calls"],
      fields: (parallel) => ({ parallel_tool_calls: parallel }),
    },
    effort: {
      kind: "sent",
      as: [effortPath],
      limits: `models without reasoning take "none" alone; gpt-5 and the o series can't do without, so not "none"`,
      fields: (effort, { model }) => effortFields(effort, model, effortPath),
    },
    thinking: {
      kind: "sent",
      as: [effortPath],
      limits: `true is sent only where the model would not think by itself, from gpt-5.1 to 5.4; no budget of tokens; gpt-5 and the o series always think`,
      fields: (thinking, given) => thinkingFields(thinking, given, effortPath),
    },
    showThinking: openaiShowThinking(effortPath),
    cache: openaiCache(ttls),
    serviceTier: {
      kind: "sent",
      as: ["service_tier"],
      fields: (tier) => ({ service_tier: tier }),
    },
    metadata: {
      kind: "sent",
      as: ["metadata"],
      limits: "up to 16 labels, names up to 64 characters, values up to 512",
      fields: (metadata) =>
        Object.keys(metadata).length <= 16 &&
        Object.entries(metadata).every(([name, text]) => name.length <= 64 && text.length <= 512)
          ? { metadata }
          : "use up to 16 labels, with names of up to 64 characters and values of up to 512",
    },
  };
}

/** Responses writes a summary of what the model thought. Chat completions shows nothing of it. */
function openaiShowThinking(effortPath: EffortPath): SettingRows["showThinking"] {
  return effortPath === "reasoning.effort"
    ? {
        kind: "sent",
        as: ["reasoning.summary"],
        limits: "a summary of it, from models that reason",
        inConversation: (_, { model }) => (reasons(model) === true ? true : undefined),
        fields: (isShown, { model }) =>
          isShown && reasons(model) !== false ? { reasoning: { summary: "auto" } } : {},
      }
    : {
        kind: "inherent",
        how: "the API shows none",
        limits: "true is refused",
        unless: (isShown) => (isShown ? "use openai, which asks by the Responses API" : undefined),
      };
}

/** The vendor keeps prefixes by itself. A key and a time to live can be asked for. */
function openaiCache(ttls: readonly string[]): SentSetting<NonNullable<ModelSettings["cache"]>> {
  const words = ttls.map((ttl) => JSON.stringify(ttl)).join(" or ");
  return {
    kind: "sent",
    as: ["prompt_cache_key", "prompt_cache_options.ttl", "prompt_cache_retention"],
    inConversation: ({ key }) => ({ key }),
    limits: `instructions, tools and items are kept by themselves; key and ttl are sent; ttl is ${words} from gpt-5.6 on, "24h" before gpt-6`,
    fields: (cache, { model }) => {
      const { key, ttl }: CacheSettings = typeof cache === "boolean" ? {} : cache;
      const kept = ttl === undefined ? {} : ttlFields(ttl, model, ttls);
      if (typeof kept === "string") return kept;
      return { ...(key === undefined ? {} : { prompt_cache_key: key }), ...kept };
    },
  };
}

function ttlFields(ttl: string, model: string, ttls: readonly string[]): JsonObject | string {
  const version = gptVersion(model) ?? Number.NaN;
  const later = ttls.map((each) => `ttl: ${JSON.stringify(each)}`).join(" or ");
  if (ttl === "24h") {
    return version >= 600 ? `use ${later}` : { prompt_cache_retention: "24h" };
  }
  if (version < 506) return `use ttl: "24h", or leave ttl out`;
  return ttls.includes(ttl) ? { prompt_cache_options: { ttl } } : `use ${later}`;
}

/** What to do if the model takes no sampling settings in this request. */
function samplingFault(given: SettingContext, effortPath: EffortPath): string | undefined {
  const { model } = given;
  if (alwaysReasons(model)) return "the model always reasons: leave the setting out, or use effort";
  const effort = valueAt(given.own, effortPath) ?? askedEffort(given);
  if (reasons(model) !== true || effort === undefined || effort === "none") return undefined;
  return `the model takes it with effort: "none" only: leave one of them out`;
}

function askedEffort({ shared: { effort, thinking } }: SettingContext): string | undefined {
  if (effort !== undefined || thinking === undefined) return effort;
  return thinking === false ? "none" : "medium";
}

const noReasoning = "the model does not reason: ask one that does, or leave it out";

function effortFields(
  effort: NonNullable<ModelSettings["effort"]>,
  model: string,
  path: EffortPath,
): JsonObject | string {
  if (reasons(model) === false) {
    return effort === "none" ? {} : noReasoning;
  }
  const word = effortWord(effort, model);
  return word === undefined ? `the model always reasons: use effort: "minimal"` : at(path, word);
}

function thinkingFields(
  thinking: NonNullable<ModelSettings["thinking"]>,
  { model, own, shared }: SettingContext,
  path: EffortPath,
): JsonObject | string {
  if (typeof thinking === "object") return "there is no budget of tokens: use effort";
  if (!thinking) return effortFields("none", model, path);
  if (shared.effort !== undefined || valueAt(own, path) !== undefined) return {};
  if (reasonsOnRequest(model)) return at(path, "medium");
  if (reasons(model) === undefined) return "it is not known whether the model thinks: use effort";
  return reasons(model) === true ? {} : noReasoning;
}

function at(path: EffortPath, word: string): JsonObject {
  return path === "reasoning_effort" ? { reasoning_effort: word } : { reasoning: { effort: word } };
}
