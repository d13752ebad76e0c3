/** Every setting that vendors share is in the request of each vendor and model, or is refused with what to do. */
import { describe, expect, test } from "vitest";
import type { Json } from "@millrace/core";
import type { RequestSettings } from "@millrace/core/ports";
import { goldenFile, sectionsWithoutCase } from "../../../tests/kit/golden.ts";
import { settingNames } from "./protocols/settings.ts";
import type { SettingName } from "./settings.ts";
import { settingsTargets, settingValues } from "./testing/settings/cases.ts";
import type { SettingsTarget } from "./testing/settings/cases.ts";
import { outcomeOf, printOutcome } from "./testing/settings/outcome.ts";
import type { Outcome } from "./testing/settings/outcome.ts";

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

function doesByItself({ name }: SettingsTarget, model: string, given: Given): boolean {
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

interface Given {
  readonly setting: SettingName;
  readonly value: Json;
}

const given: readonly Given[] = settingNames.flatMap((setting) =>
  settingValues[setting].map((value) => ({ setting, value })),
);

function equal(one: Json, other: Json): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Numbers and texts that the request must have to the letter. Words have others at each vendor. */
function marksIn(value: Json): readonly string[] {
  return JSON.stringify(value).match(/[\d.]{4,}|[Hh]alt-\d|Key-\d|label-\d/g) ?? [];
}

/** What is wrong with an outcome. */
function faultsOf(target: SettingsTarget, model: string, one: Given, outcome: Outcome): string[] {
  const { setting, value } = one;
  const row = target.protocol.settings?.rows[setting];
  switch (outcome.kind) {
    case "sent": {
      const paths = [...outcome.changes.keys()];
      const places = row?.kind === "sent" ? row.as : [];
      const isNamed = places.some((place) => paths.some((path) => isIn(path, place)));
      const sent = JSON.stringify([...outcome.changes.values()]);
      const lost = marksIn(value).filter((mark) => !sent.includes(mark));
      return [
        ...(isNamed ? [] : [`is not where its table says: ${paths.join()}`]),
        ...lost.map((mark) => `lost ${mark}`),
      ];
    }
    case "by itself":
      return doesByItself(target, model, one) ? [] : ["vanished"];
    case "refused": {
      const { message, refused } = outcome.refusal;
      const names = [target.protocol.settings?.vendor ?? "?", `the setting ${setting} (`];
      const lacks = names.filter((name) => !message.includes(name));
      const advice = /\): .*\b(?:use|leave|ask|offer|set|make)\b/.test(message);
      return [
        ...lacks.map((name) => `its refusal lacks ${name}: ${message}`),
        ...(advice ? [] : [`its refusal lacks what to do: ${message}`]),
        ...(refused.setting === setting ? [] : [`refuses another setting: ${message}`]),
      ];
    }
    default:
      return outcome satisfies never;
  }
}

/** True if a path is a place or inside of it. A breakpoint may be at any block. */
function isIn(path: string, place: string): boolean {
  if (place === "cache_control" || place === "cachePoint") return path.includes(`].${place}.`);
  return `${path}.`.startsWith(`${place}.`);
}

describe("settings that vendors share", () => {
  const golden = new URL("../fixtures/settings.txt", import.meta.url).pathname;
  const names = settingsTargets.map(({ name }) => name);
  const expectGolden = goldenFile(golden, names);

  test.each(settingsTargets)("$name: none vanishes, for any value and model", (target) => {
    const faults: string[] = [];
    let outcomes = 0;
    for (const model of target.models) {
      for (const one of given) {
        const settings: RequestSettings = { [one.setting]: one.value };
        const outcome = outcomeOf(target, model, settings);
        outcomes += 1;
        const place = `${model}, ${one.setting}: ${JSON.stringify(one.value)}`;
        faults.push(...faultsOf(target, model, one, outcome).map((fault) => `${place} ${fault}`));
      }
    }

    expect(faults).toStrictEqual([]);
    console.log(`count: settings of ${target.name}, ${outcomes} values x models, 0 vanish`);
  });

  test.each(settingsTargets)("$name: each value is sent as it was before", (target) => {
    expectGolden(target.name, given.map((one) => printed(target, one)).join(""));
  });

  test("every golden has a protocol", () => {
    expect(sectionsWithoutCase(golden, names)).toStrictEqual([]);
  });
});

/** What becomes of a value, with the models for which it is so. */
function printed(target: SettingsTarget, { setting, value }: Given): string {
  const models = Map.groupBy(target.models, (model) =>
    printOutcome(outcomeOf(target, model, { [setting]: value })),
  );
  const lines = [...models].map(([outcome, which]) => {
    const all = which.length === target.models.length;
    return `  ${all ? "all" : which.join(", ")}: ${outcome}\n`;
  });
  return `${setting} ${JSON.stringify(value)}\n${lines.join("")}`;
}
