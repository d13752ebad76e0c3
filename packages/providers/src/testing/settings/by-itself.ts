import type { Json } from "@millrace/core";
import type { SettingName } from "../../settings.ts";

/**
 * What a model does without being asked, so that nothing is sent: the models for a setting and a value.
 * Written apart from the tables, so that these can't drop a setting.
 */
const byItself: Readonly<Record<string, readonly (readonly [SettingName, Json, RegExp])[]>> = {
  "openai-chat": [
    ["effort", "none", /^gpt-4\.1|chat-latest/],
    ["thinking", false, /^gpt-4\.1|chat-latest/],
    ["thinking", true, /^(?:gpt-5|o3|gpt-5\.6-sol|gpt-6-sol)$/],
  ],
  "anthropic-messages": [
    ["effort", "none", /3-5/],
    ["thinking", false, /3-5/],
  ],
  "bedrock-converse": [
    ["effort", "none", /3-5/],
    ["thinking", false, /3-5/],
    ["cache", false, /./],
    ["parallelTools", true, /./],
  ],
  gemini: [
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
  const rows = byItself[name === "openai-responses" ? "openai-chat" : name] ?? [];
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
