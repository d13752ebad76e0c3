import type { Fact } from "@millrace/core";
import { standingOfOutlines } from "./advance.ts";
import { rememberedCalls } from "./limits.ts";
import { outline } from "./outline.ts";
import type { Standing } from "./state.ts";

/** The standing of a session after all its facts. Not needed by an engine, which has outlines. */
export function standingOf(facts: readonly Fact[], remember: number = rememberedCalls): Standing {
  return standingOfOutlines(facts.map(outline), remember);
}
