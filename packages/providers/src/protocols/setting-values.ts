import { expects } from "@millrace/core/checks";
import { isJsonObject } from "@millrace/core/json";
import type { OptionCheck, OptionChecks } from "@millrace/core/checks";
import type { CacheSettings, ModelSettings } from "@millrace/core/ports";

const { flag, oneOf } = expects;

/** Values that no vendor takes. What only some refuse is in their tables. */
export const settingChecks: OptionChecks<ModelSettings> = {
  maxTokens: wholeFrom(1),
  temperature: {
    accepts: (value) => isFinite(value) && value >= 0,
    fix: "use a number from 0",
  },
  topP: {
    accepts: (value) => isFinite(value) && value >= 0 && value <= 1,
    fix: "use a number from 0 to 1",
  },
  stop: {
    accepts: (value) => isText(value) || (Array.isArray(value) && value.every(isText)),
    fix: "use a text or a list of texts, none of them empty",
  },
  seed: { accepts: Number.isSafeInteger, fix: "use a whole number" },
  toolChoice: {
    accepts: (value) =>
      ["auto", "none", "required"].some((each) => each === value) ||
      (isJsonObject(value) && hasOnly(value, ["tool"]) && isText(value["tool"])),
    fix: 'use "auto", "none", "required" or { tool: "its name" }',
  },
  parallelTools: flag,
  effort: oneOf("none", "minimal", "low", "medium", "high", "max"),
  thinking: {
    accepts: (value) =>
      typeof value === "boolean" ||
      (isJsonObject(value) && hasOnly(value, ["budgetTokens"]) && isWhole(value["budgetTokens"])),
    fix: "use true, false or { budgetTokens: 8_000 }",
  },
  showThinking: flag,
  cache: {
    accepts: (value) => typeof value === "boolean" || isCache(value),
    fix: 'use true, false or an object with instructions, tools, items, ttl ("5m", "30m", "1h", "12h", "24h") and key',
  },
  serviceTier: oneOf("auto", "default", "flex", "priority"),
  metadata: {
    accepts: (value) =>
      isJsonObject(value) && Object.values(value).every((each) => typeof each === "string"),
    fix: "use an object of texts",
  },
};

const cacheChecks: OptionChecks<CacheSettings> = {
  instructions: flag,
  tools: flag,
  items: flag,
  ttl: oneOf("5m", "30m", "1h", "12h", "24h"),
  key: expects.text(),
};

function isCache(value: unknown): boolean {
  if (!isJsonObject(value) || !hasOnly(value, Object.keys(cacheChecks))) return false;
  return Object.entries<OptionCheck>(cacheChecks).every(
    ([name, check]) => value[name] === undefined || check.accepts(value[name]),
  );
}

function wholeFrom(least: number): OptionCheck {
  return {
    accepts: (value) => Number.isSafeInteger(value) && Number(value) >= least,
    fix: `use a whole number from ${least}`,
  };
}

function isWhole(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}

function isFinite(value: unknown): value is number {
  return Number.isFinite(value);
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function hasOnly(value: object, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name));
}
