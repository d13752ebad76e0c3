import type { Json } from "@millrace/core";
import type { SettingName } from "../../settings.ts";

/**
 * What a model does without being asked, so that nothing is sent: the models for a setting and a value.
 * Written apart from the tables, so that these can't drop a setting.
 */
const byItself: Readonly<Record<string, readonly (readonly [SettingName, Json, RegExp])[]>> = {
  "openai-chat": [
    ["showThinking", false, /./],
    ["effort", "none", /^gpt-4\.1|chat-latest/],
    ["thinking", false, /^gpt-4\.1|chat-latest/],
    ["thinking", true, /^(?:gpt-5|o3|gpt-5\.6-sol|gpt-6-sol)$/],
  ],
  "openai-responses": [
    ["showThinking", true, /^gpt-4\.1|chat-latest/],
    ["showThinking", false, /./],
  ],
  "openai-compatible": [["showThinking", true, /./]],
  "anthropic-messages": [
    ["thinking", true, /opus-5-5/],
    // Models that think show it before 4.6, and others have nothing to show.
    ["showThinking", true, /4[.-][5-7]|sonnet-4-20|3-[57]|kimi/],
    ["showThinking", false, /4[.-][5-7]|sonnet-4-20|3-[57]|kimi/],
    ["effort", "none", /3-5/],
    ["thinking", false, /3-5/],
  ],
  "bedrock-converse": [
    ["showThinking", true, /^(?!.*claude-[a-z]+-5)/],
    ["showThinking", false, /^(?!.*claude-[a-z]+-5)/],
    ["effort", "none", /3-5/],
    ["thinking", false, /3-5/],
    ["cache", false, /./],
    ["parallelTools", true, /./],
  ],
  gemini: [
    ["showThinking", true, /2\.0/],
    ["showThinking", false, /2\.0/],
    ["effort", "none", /2\.0/],
    ["thinking", false, /2\.0/],
    ["thinking", true, /gemini-3|latest/],
    ["parallelTools", true, /./],
  ],
};

/** Vendors that keep prompts without being asked. */
const keepsByItself = ["openai-chat", "openai-compatible", "openai-responses", "gemini"];

/** True if a model of this format follows the setting without being asked. */
export function doesByItself(name: string, model: string, given: Given): boolean {
  const { setting, value } = given;
  if (setting === "cache" && value === false) return true;
  if (setting === "cache" && keepsByItself.includes(name)) return asksNothingMore(value);
  const rows = [
    ...(byItself[name] ?? []),
    ...(name === "openai-responses" ? (byItself["openai-chat"] ?? []) : []),
  ];
  return rows.some(
    ([each, one, models]) => each === setting && equal(one, value) && models.test(model),
  );
}

function asksNothingMore(cache: Json): boolean {
  return typeof cache === "boolean" || !/"(?:ttl|key)"/.test(JSON.stringify(cache));
}

/** A setting with a value. */
export interface Given {
  readonly setting: SettingName;
  readonly value: Json;
}

function equal(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Numbers and texts that the request must have to the letter. Words have others at each vendor. */
export function marksIn(value: Json): readonly string[] {
  return JSON.stringify(value).match(/[\d.]{4,}|[Hh]alt-\d|Key-\d|label-\d/g) ?? [];
}
