/** Every setting that vendors share is in the request of each vendor and model, or is refused with what to do. */
import { describe, expect, test } from "vitest";
import type { RequestSettings } from "@millrace/core/ports";
import { goldenFile, sectionsWithoutCase } from "../../../tests/kit/golden.ts";
import { settingNames } from "./protocols/settings.ts";
import { doesByItself, marksIn } from "./testing/settings/by-itself.ts";
import type { Given } from "./testing/settings/by-itself.ts";
import { settingsTargets, settingValues } from "./testing/settings/cases.ts";
import type { SettingsTarget } from "./testing/settings/cases.ts";
import { outcomeOf, printOutcome } from "./testing/settings/outcome.ts";
import type { Outcome } from "./testing/settings/outcome.ts";

const given: readonly Given[] = settingNames.flatMap((setting) =>
  settingValues[setting].map((value) => ({ setting, value })),
);

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
      return doesByItself(target.name, model, one) ? [] : ["vanished"];
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
