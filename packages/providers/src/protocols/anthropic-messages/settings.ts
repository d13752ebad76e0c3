import { isJsonObject } from "@millrace/core/json";
import type { Json, JsonObject } from "@millrace/core";
import type { ModelSettings } from "@millrace/core/ports";
import type { SettingContext, SettingsTable } from "../../settings.ts";
import { valueAt } from "../read.ts";
import { isBlank } from "./events.ts";
import { claude } from "./models.ts";

/** How Anthropic's Messages API takes settings. */
export const anthropicSettings: SettingsTable = {
  vendor: "Anthropic's Messages API",
  rows: {
    maxTokens: { kind: "sent", as: ["max_tokens"], fields: (tokens) => ({ max_tokens: tokens }) },
    temperature: {
      kind: "sent",
      as: ["temperature"],
      limits: "from 0 to 1; not from Claude 4.7 on, nor with thinking",
      fields: (temperature, given) => {
        if (temperature > 1) return "use a number from 0 to 1";
        return samplingFault(given, temperature === 1) ?? { temperature };
      },
    },
    topP: {
      kind: "sent",
      as: ["top_p"],
      limits:
        "not from Claude 4.7 on; below 0.95 not with thinking; from Claude 4.1 on not with temperature",
      fields: (topP, given) => {
        const { oneSampler } = claude(given.model);
        if (oneSampler && given.shared.temperature !== undefined)
          return "temperature is given too, and the model takes one of the two: leave one out";
        return samplingFault(given, topP >= 0.95) ?? { top_p: topP };
      },
    },
    stop: {
      kind: "sent",
      as: ["stop_sequences"],
      limits: "no text that is only white space",
      fields: (stop) => {
        const texts = typeof stop === "string" ? [stop] : stop;
        return texts.some(isBlank)
          ? "use texts that are more than white space"
          : { stop_sequences: texts };
      },
    },
    seed: { kind: "refused", instead: "this API has no seed: leave the setting out" },
    toolChoice: {
      kind: "sent",
      as: ["tool_choice"],
      limits:
        "no call can be forced while thinking is asked for, nor by Claude Opus 5.5, Sonnet 5.5 and Fable 5.1 and later",
      fields: (choice, given) => {
        if (choice === "auto" || choice === "none") return { tool_choice: { type: choice } };
        if (!claude(given.model).takesForcedChoice)
          return `no call can be forced with this model: use "auto", and ask for the call in words`;
        const mode = thinkingMode(given);
        if (mode === "enabled" || mode === "adaptive")
          return `no call can be forced while the model thinks: use "auto", or leave effort and thinking out`;
        const type = choice === "required" ? "any" : "tool";
        return { tool_choice: typeof choice === "string" ? { type } : { type, name: choice.tool } };
      },
    },
    parallelTools: {
      kind: "sent",
      as: ["tool_choice.disable_parallel_tool_use"],
      fields: (parallel, { shared: { toolChoice }, own }) => {
        if (toolChoice === "none" || valueAt(own, "tool_choice.type") === "none") return {};
        const isChosen = toolChoice !== undefined || own["tool_choice"] !== undefined;
        const type = isChosen ? {} : { type: "auto" };
        return { tool_choice: { ...type, disable_parallel_tool_use: !parallel } };
      },
    },
    effort: {
      kind: "sent",
      as: ["output_config.effort", "thinking"],
      limits:
        'Claude 4.6 and later and Opus 4.5 have an effort; Claude 3.7 to 4.5 get a budget for thinking; earlier ones take "none" alone; "none" switches thinking off',
      fields: effortFields,
    },
    thinking: {
      kind: "sent",
      as: ["thinking"],
      limits:
        "a budget is from 1,024 tokens and below maxTokens, and not taken from Claude 4.7 on; Claude Opus 5.5, Sonnet 5.5 and Fable 5 always think; a run of calls that began without thinking goes on without",
      isOwn: (value: Json) => isJsonObject(value) && Object.hasOwn(value, "type"),
      fields: thinkingFields,
    },
    showThinking: {
      kind: "sent",
      as: ["thinking.display"],
      limits: "models before Claude 4.6 always show it",
      inConversation: () => true,
      fields: displayFields,
    },
    cache: {
      kind: "sent",
      as: ["cache_control"],
      rivals: ["cache_control"],
      inConversation: ({ isSingle }) => (isSingle === true ? undefined : true),
      limits: 'up to 4 breakpoints, with those of parts; ttl is "5m" or "1h"; no key',
      // The request places the breakpoints (cache.ts).
      fields: (cache) => {
        const { key, ttl } = typeof cache === "boolean" ? {} : cache;
        if (key !== undefined) return "leave key out: what was kept is found by its content";
        if (ttl === undefined || ttl === "5m" || ttl === "1h") return {};
        return `use ttl: "5m" or "1h"`;
      },
    },
    serviceTier: {
      kind: "sent",
      as: ["service_tier"],
      limits: '"auto", and "default" as standard_only; no "flex", and "priority" by "auto"',
      fields: (tier) => {
        if (tier === "auto") return { service_tier: "auto" };
        if (tier === "default") return { service_tier: "standard_only" };
        return tier === "priority"
          ? `use "auto", which uses priority capacity if there is any`
          : `use "auto" or "default"`;
      },
    },
    metadata: {
      kind: "sent",
      as: ["metadata.user_id"],
      limits: "user_id alone",
      fields: (metadata) =>
        Object.keys(metadata).every((name) => name === "user_id")
          ? { metadata }
          : "this API keeps user_id alone: leave other labels out",
    },
  },
};

/** What to do if the model takes no sampling settings in this request. */
function samplingFault(given: SettingContext, isNear1: boolean): string | undefined {
  const { takesSampling, thinksByItself } = claude(given.model);
  if (!takesSampling) return "the model takes no sampling settings: leave it out, or use effort";
  const mode = thinkingMode(given) ?? (thinksByItself ? "adaptive" : "disabled");
  if (isNear1 || mode === "disabled") return undefined;
  return "the model thinks, and samples as it likes: leave the setting out, or set thinking: false";
}

/** How the model is asked to think, by the vendor's word. Undefined if nothing is asked. */
function thinkingMode(given: SettingContext): Json | undefined {
  const own = valueAt(given.own, "thinking.type");
  const { effort, thinking } = given.shared;
  if (own !== undefined || (effort === undefined && thinking === undefined)) return own;
  const fields = [
    thinking === undefined ? {} : thinkingFields(thinking, given),
    effort === undefined ? {} : effortFields(effort, given),
  ];
  return fields
    .map((each) => (typeof each === "string" ? undefined : valueAt(each, "thinking.type")))
    .find((mode) => mode !== undefined);
}

/** Budgets for models that have no effort. Half of the reply at most, so that there is room to answer. */
const budgets = { minimal: 1_024, low: 4_096, medium: 8_192, high: 16_384, max: 30_000 };
const leastBudget = 1_024;

function effortFields(
  effort: NonNullable<ModelSettings["effort"]>,
  given: SettingContext,
): JsonObject | string {
  const { hasEffort, isAdaptive, thinksByItself, canThink, most } = claude(given.model);
  if (effort === "none") return thinkingFields(false, given);
  if (!canThink) return "the model does not think: ask one that does, or leave it out";
  if (!hasEffort) return budgetFor(effort, given);
  const word = effort === "minimal" ? "low" : effort === "max" ? most : effort;
  const { thinking, toolChoice = "auto" } = given.shared;
  const isAsked = thinking !== undefined || given.own["thinking"] !== undefined;
  // A call can't be forced while the model thinks. The effort holds for the rest of the reply too.
  const isForced = toolChoice !== "auto" && toolChoice !== "none";
  const isStarted = isAdaptive && !thinksByItself && !isAsked && !isForced;
  return {
    output_config: { effort: word },
    ...(isStarted ? { thinking: { type: "adaptive" } } : {}),
  };
}

function budgetFor(effort: keyof typeof budgets, given: SettingContext): JsonObject | string {
  if (typeof given.shared.thinking === "object")
    return "thinking has a budget, and the model takes effort as one: leave one of them out";
  if (given.own["thinking"] !== undefined)
    return "thinking is given too, and the model takes effort as a budget for it: leave one out";
  const room = Math.floor(limitOf(given) / 2);
  if (room < leastBudget) return "the model needs a budget: set maxTokens to 2,048 or more";
  const budget = Math.min(budgets[effort], room);
  return { thinking: { type: "enabled", budget_tokens: budget } };
}

function thinkingFields(
  thinking: NonNullable<ModelSettings["thinking"]>,
  given: SettingContext,
): JsonObject | string {
  const { canThink, canStopThinking, isAdaptive, takesBudget, hasEffort } = claude(given.model);
  if (thinking === false) {
    if (!canStopThinking) return `the model always thinks: use effort: "minimal"`;
    return canThink ? { thinking: { type: "disabled" } } : {};
  }
  if (!canThink) return "the model does not think: ask one that does, or leave it out";
  if (thinking === true) {
    if (isAdaptive) return { thinking: { type: "adaptive" } };
    // The effort is sent as a budget, and so as thinking.
    return given.shared.effort !== undefined && !hasEffort ? {} : budgetFor("medium", given);
  }
  if (!takesBudget) return "the model decides by itself how long it thinks: use effort";
  const budget = thinking.budgetTokens;
  if (budget < leastBudget) return "use a budget of 1,024 tokens or more";
  if (budget >= limitOf(given)) return "use a budget below maxTokens, which holds for both";
  return { thinking: { type: "enabled", budget_tokens: budget } };
}

/** Nothing is sent if the model does not think, or would show it anyway. */
function displayFields(isShown: boolean, given: SettingContext): JsonObject {
  const { isAdaptive, thinksByItself } = claude(given.model);
  const asked = thinkingMode(given);
  const mode = asked ?? (thinksByItself ? "adaptive" : "disabled");
  if (!isAdaptive || mode === "disabled") return {};
  const display = isShown ? "summarized" : "omitted";
  return { thinking: { ...(asked === undefined ? { type: mode } : {}), display } };
}

/** The limit of the reply, as far as it is given. */
function limitOf({ shared: { maxTokens }, own }: SettingContext): number {
  const given = maxTokens ?? own["max_tokens"];
  return typeof given === "number" ? given : Infinity;
}
