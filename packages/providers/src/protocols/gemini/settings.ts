import type { Json, JsonObject } from "@millrace/core";
import type { ModelSettings } from "@millrace/core/ports";
import type { SettingContext, SettingsTable } from "../../settings.ts";

/** How Gemini's API takes settings. */
export const geminiSettings: SettingsTable = {
  vendor: "Gemini's API",
  rows: {
    maxTokens: config("maxOutputTokens", (tokens: number) => tokens),
    temperature: {
      ...config("temperature", (temperature: number) => temperature),
      limits: "up to 2",
      fields: (temperature) =>
        temperature > 2 ? "use a number from 0 to 2" : inConfig("temperature", temperature),
    },
    topP: config("topP", (topP: number) => topP),
    stop: {
      kind: "sent",
      as: ["generationConfig.stopSequences"],
      limits: "up to 5 texts",
      fields: (stop) => {
        const texts = typeof stop === "string" ? [stop] : stop;
        return texts.length > 5 ? "use up to 5 texts" : inConfig("stopSequences", texts);
      },
    },
    seed: config("seed", (seed: number) => seed),
    toolChoice: {
      kind: "sent",
      as: ["toolConfig.functionCallingConfig"],
      fields: (choice) => ({ toolConfig: { functionCallingConfig: callingConfig(choice) } }),
    },
    parallelTools: {
      kind: "inherent",
      how: "the model calls several tools at once if it likes",
      limits: "can't be switched off",
      unless: (parallel) =>
        parallel
          ? undefined
          : "this API has no such switch: ask for one call at a time in the instructions",
    },
    effort: {
      kind: "sent",
      as: [
        "generationConfig.thinkingConfig.thinkingLevel",
        "generationConfig.thinkingConfig.thinkingBudget",
      ],
      limits:
        'a level from Gemini 3 on, a budget for 2.5; Gemini 3 and 2.5 Pro always think, so not "none"; Gemini 3 Pro has no "medium"; earlier models take "none" alone',
      fields: (effort, { model }) => effortFields(effort, model),
    },
    thinking: {
      kind: "sent",
      as: ["generationConfig.thinkingConfig.thinkingBudget"],
      limits:
        "Gemini 3 thinks by itself, so that true sends nothing; false for 2.5 Flash alone; earlier models take false alone",
      fields: thinkingFields,
    },
    showThinking: {
      kind: "sent",
      as: ["generationConfig.thinkingConfig.includeThoughts"],
      limits: "a summary of it, from Gemini 2.5 on",
      inConversation: () => true,
      fields: (isShown, { model }) =>
        thinker(model).by === "nothing" ? {} : thinkingConfig({ includeThoughts: isShown }),
    },
    cache: {
      kind: "inherent",
      how: "prompts that begin alike are kept, from Gemini 2.5 on",
      limits: "no ttl and no key: make a cachedContent, and set cachedContent",
      unless: (cache) =>
        typeof cache === "object" && (cache.ttl !== undefined || cache.key !== undefined)
          ? "leave ttl and key out, or make a cached content and set cachedContent to its name"
          : undefined,
    },
    serviceTier: {
      kind: "sent",
      as: ["serviceTier"],
      isOwn: (tier) => tier === "standard" || tier === "unspecified",
      fields: (tier) => ({ serviceTier: tiers[tier] }),
    },
    metadata: {
      kind: "sent",
      as: ["labels"],
      limits: "lower-case letters, digits, _ and -, up to 63 of them; names begin with a letter",
      fields: (metadata) =>
        Object.entries(metadata).every(([name, text]) => label.test(name) && labelled.test(text))
          ? { labels: metadata }
          : "use up to 63 lower-case letters, digits, _ and -, and begin names with a letter",
    },
  },
};

const tiers = { auto: "unspecified", default: "standard", flex: "flex", priority: "priority" };
const label = /^\p{Ll}[\p{Ll}\p{Lo}\d_-]{0,62}$/u;
const labelled = /^[\p{Ll}\p{Lo}\d_-]{0,63}$/u;

function inConfig(field: string, value: Json): JsonObject {
  return { generationConfig: { [field]: value } };
}

/** A setting with a field of its own in the generation config. */
function config<Value>(
  field: string,
  wire: (value: Value) => Json,
): {
  readonly kind: "sent";
  readonly as: readonly string[];
  readonly fields: (value: Value) => JsonObject;
} {
  return {
    kind: "sent",
    as: [`generationConfig.${field}`],
    fields: (value) => inConfig(field, wire(value)),
  };
}

function callingConfig(choice: NonNullable<ModelSettings["toolChoice"]>): JsonObject {
  if (typeof choice === "object") return { mode: "ANY", allowedFunctionNames: [choice.tool] };
  return { mode: choice === "required" ? "ANY" : choice.toUpperCase() };
}

/** How a model thinks: by a level, by a budget of tokens, or not at all. */
interface Thinker {
  readonly by: "level" | "budget" | "nothing";
  readonly canStop: boolean;
  readonly isPro: boolean;
}

/** By the number in the name. A name without one refers to the newest model. */
function thinker(model: string): Thinker {
  const isPro = /gemini-[\d.]*-?pro/.test(model);
  if (/(?:^|\/)gemini-(?:1(?:[.-]|$)|2(?:\.[0-4]|-|$))/.test(model))
    return { by: "nothing", canStop: true, isPro };
  if (/(?:^|\/)gemini-2\.5/.test(model)) return { by: "budget", canStop: !isPro, isPro };
  return { by: "level", canStop: false, isPro };
}

/** As the vendor's own endpoint for chat completions translates efforts. */
const budgets = { minimal: 512, low: 1_024, medium: 8_192, high: 24_576, max: 24_576 };
const proBudgets = { ...budgets, minimal: 128, max: 32_768 };

function effortFields(
  effort: NonNullable<ModelSettings["effort"]>,
  model: string,
): JsonObject | string {
  const { by, canStop, isPro } = thinker(model);
  if (effort === "none") {
    if (!canStop) return `the model always thinks: use effort: "minimal"`;
    return by === "nothing" ? {} : thinkingConfig({ thinkingBudget: 0 });
  }
  if (by === "nothing") return "the model does not think: ask one that does, or leave it out";
  if (by === "budget") {
    return thinkingConfig({ thinkingBudget: (isPro ? proBudgets : budgets)[effort] });
  }
  if (effort === "medium" && /gemini-3-pro/.test(model)) return `use "low" or "high"`;
  const least = isPro ? "LOW" : "MINIMAL";
  const level = effort === "minimal" ? least : effort === "max" ? "HIGH" : effort.toUpperCase();
  return thinkingConfig({ thinkingLevel: level });
}

function thinkingFields(
  thinking: NonNullable<ModelSettings["thinking"]>,
  { model, shared: { effort } }: SettingContext,
): JsonObject | string {
  const { by, canStop } = thinker(model);
  if (thinking === false) {
    if (!canStop) return `the model always thinks: use effort: "minimal"`;
    return by === "nothing" ? {} : thinkingConfig({ thinkingBudget: 0 });
  }
  if (by === "nothing") return "the model does not think: ask one that does, or leave it out";
  if (typeof thinking === "object") {
    return effort === undefined
      ? thinkingConfig({ thinkingBudget: thinking.budgetTokens })
      : "effort is given too, and the model takes one of the two: leave one out";
  }
  const isAsked = by === "level" || effort !== undefined;
  return isAsked ? {} : thinkingConfig({ thinkingBudget: -1 });
}

function thinkingConfig(fields: JsonObject): JsonObject {
  return { generationConfig: { thinkingConfig: fields } };
}
