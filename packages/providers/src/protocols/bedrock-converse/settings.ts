import { isJsonObject } from "@millrace/core/json";
import type { JsonObject } from "@millrace/core";
import type { ModelSettings } from "@millrace/core/ports";
import type { SettingContext, SettingName, SettingRow, SettingsTable } from "../../settings.ts";
import { anthropicSettings } from "../anthropic-messages/settings.ts";
import { objectAt, valueAt } from "../read.ts";

const ownField =
  "use the model's own field in additionalModelRequestFields, or leave the setting out";

/** How Bedrock's Converse API takes settings. What Claude refuses of them, it refuses here too. */
export const bedrockSettings: SettingsTable = {
  vendor: "Bedrock's Converse API",
  tools: "toolConfig.tools",
  rows: {
    maxTokens: {
      kind: "sent",
      as: ["inferenceConfig.maxTokens"],
      fields: (maxTokens) => ({ inferenceConfig: { maxTokens } }),
    },
    temperature: {
      kind: "sent",
      as: ["inferenceConfig.temperature"],
      limits: "from 0 to 1; Claude's own limits hold",
      fields: (temperature, given) =>
        temperature > 1
          ? "use a number from 0 to 1"
          : (claudeFault("temperature", temperature, given) ?? {
              inferenceConfig: { temperature },
            }),
    },
    topP: {
      kind: "sent",
      as: ["inferenceConfig.topP"],
      limits: "Claude's own limits hold",
      fields: (topP, given) => claudeFault("topP", topP, given) ?? { inferenceConfig: { topP } },
    },
    stop: {
      kind: "sent",
      as: ["inferenceConfig.stopSequences"],
      limits: "no text that is only white space, with Claude",
      fields: (stop, given) => {
        const stopSequences = typeof stop === "string" ? [stop] : stop;
        return claudeFault("stop", stop, given) ?? { inferenceConfig: { stopSequences } };
      },
    },
    seed: { kind: "refused", instead: `this API has no seed: ${ownField}` },
    toolChoice: {
      kind: "sent",
      as: ["toolConfig.toolChoice"],
      limits: 'no "none"; which models can be forced, the vendor decides',
      fields: (choice, given) => {
        if (choice === "none") return "this API has no such choice: leave the tools out";
        const fault = claudeFault("toolChoice", choice, given);
        if (fault !== undefined) return fault;
        if (typeof choice === "object") return chosen({ tool: { name: choice.tool } });
        return chosen(choice === "auto" ? { auto: {} } : { any: {} });
      },
    },
    parallelTools: {
      kind: "inherent",
      how: "models call several tools at once where they can",
      limits: "false is refused",
      unless: (parallel) =>
        parallel
          ? undefined
          : "this API can't forbid it: leave the setting out, or use bedrockAnthropic",
    },
    effort: {
      kind: "sent",
      as: ["outputConfig.effort", "additionalModelRequestFields"],
      limits:
        "Claude as by its own API; gpt-oss from low to high; other models by their own fields",
      fields: effortFields,
    },
    thinking: {
      kind: "sent",
      as: ["additionalModelRequestFields.thinking"],
      limits: "Claude, as by its own API; other models by their own fields",
      fields: (thinking, given) =>
        isClaude(given.model) ? inConverse(claudeFields("thinking", thinking, given)) : ownField,
    },
    showThinking: {
      kind: "sent",
      as: ["additionalModelRequestFields.thinking.display"],
      limits: "Claude, as by its own API; other models show what they have",
      inConversation: () => true,
      fields: (isShown, given) =>
        isClaude(given.model) ? inConverse(claudeFields("showThinking", isShown, given)) : {},
    },
    cache: {
      kind: "sent",
      as: ["cachePoint"],
      inConversation: ({ isSingle }, { model }) =>
        isSingle === true || !keepsPrompts(model) ? undefined : true,
      limits: 'Claude and Nova; Nova keeps no tools; up to 4 points; ttl is "5m" or "1h"; no key',
      // The request places the points (cache.ts).
      fields: (cache, { model }) => {
        const { key, ttl, tools } = typeof cache === "boolean" ? {} : cache;
        if (cache !== false && !keepsPrompts(model))
          return "the model is not known to keep prompts: use Claude or Nova, or leave it out";
        if (key !== undefined) return "leave key out: what was kept is found by its content";
        if (tools === true && /nova/.test(model)) return "leave tools out: Nova keeps none";
        if (ttl === undefined || ttl === "5m" || ttl === "1h") return {};
        return `use ttl: "5m" or "1h"`;
      },
    },
    serviceTier: {
      kind: "sent",
      as: ["serviceTier"],
      limits: 'no "auto"',
      isOwn: isJsonObject,
      fields: (tier) =>
        tier === "auto"
          ? `leave the setting out, or use "default", "flex" or "priority"`
          : { serviceTier: { type: tier } },
    },
    metadata: {
      kind: "sent",
      as: ["requestMetadata"],
      fields: (metadata) => ({ requestMetadata: metadata }),
    },
  },
};

function chosen(toolChoice: JsonObject): JsonObject {
  return { toolConfig: { toolChoice } };
}

/** True for models that are documented to take cache points. */
export function keepsPrompts(model: string): boolean {
  return /claude|nova/.test(model);
}

export function isClaude(model: string): boolean {
  return model.includes("claude");
}

/** The fields that Claude's own API has for a setting, or what to do instead. */
function claudeFields<Name extends SettingName>(
  name: Name,
  value: NonNullable<ModelSettings[Name]>,
  { model, shared, own }: SettingContext,
): JsonObject | string {
  const row = anthropicSettings.rows[name] as SettingRow<typeof value>;
  const limit = valueAt(own, "inferenceConfig.maxTokens");
  const fields: JsonObject = {
    ...objectAt(own, "additionalModelRequestFields"),
    ...(limit === undefined ? {} : { max_tokens: limit }),
  };
  return row.kind === "sent" ? row.fields(value, { model, shared, own: fields }) : {};
}

/** Why a Claude model does not take a value. */
function claudeFault<Name extends SettingName>(
  name: Name,
  value: NonNullable<ModelSettings[Name]>,
  given: SettingContext,
): string | undefined {
  const fields = isClaude(given.model) ? claudeFields(name, value, given) : {};
  return typeof fields === "string" ? fields : undefined;
}

/** Fields of Claude's own API where Converse has them. */
function inConverse(fields: JsonObject | string): JsonObject | string {
  if (typeof fields === "string") return fields;
  const { output_config: config, thinking } = fields as Partial<JsonObject>;
  return {
    ...(config === undefined ? {} : { outputConfig: config }),
    ...(thinking === undefined ? {} : { additionalModelRequestFields: { thinking } }),
  };
}

function effortFields(
  effort: NonNullable<ModelSettings["effort"]>,
  given: SettingContext,
): JsonObject | string {
  if (isClaude(given.model)) return inConverse(claudeFields("effort", effort, given));
  if (!given.model.includes("gpt-oss")) return ownField;
  if (effort === "none") return 'the model always thinks: use "minimal"';
  const word = effort === "minimal" ? "low" : effort === "max" ? "high" : effort;
  return { additionalModelRequestFields: { reasoning_effort: word } };
}
