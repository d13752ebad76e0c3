import type { Fact } from "./event.ts";

/**
 * A fact as viewers get it: without the agent's instructions and tools, which belong to its developer. Its
 * number stays, so that readers count the same facts.
 */
export function publicFact(fact: Fact): Fact {
  if (fact.type !== "guidance_set" || fact.guidance === undefined) return fact;
  const { guidance: _, ...rest } = fact;
  return rest;
}
