import type { Item, Json, Part, Transcript } from "@millrace/core";
import type { RequestSettings } from "@millrace/core/ports";
import type { Random } from "../../../../../tests/kit/random.ts";
import { settingNames } from "../../protocols/settings.ts";
import { settingValues } from "./cases.ts";

/** Draws some of the settings that vendors share, for a tenth of all requests. */
export function drawSettings(random: Random): RequestSettings {
  if (!random.chance(0.1)) return {};
  const names = Array.from({ length: 1 + random.below(3) }, () => random.pick(settingNames));
  return Object.fromEntries(names.map((name) => [name, random.pick<Json>(settingValues[name])]));
}

const options: readonly Json[] = [
  { detail: "low" },
  { detail: "auto", cache: true },
  { citations: true },
  { citations: false, context: "from 1999" },
  { cache: true },
  { cache: false },
  { quality: 3 },
  "low",
];

/** Gives options to one of a hundred parts of users and tools. */
export function withPartOptions(random: Random, transcript: Transcript): Transcript {
  return transcript.map((item): Item => {
    if (item.author !== "user" && item.author !== "tool") return item;
    const parts = item.parts.map((part): Part => {
      if (part.kind === "opaque" || !random.chance(0.01)) return part;
      return { ...part, metadata: { ...part.metadata, options: random.pick(options) } };
    });
    return { ...item, parts };
  });
}
