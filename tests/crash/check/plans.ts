import type { Scenario } from "../scenario.ts";
import { createGates } from "../kit/gates.ts";
import { tableModel } from "../kit/model.ts";
import { makeTool } from "../kit/tools.ts";
import type { EffectOf } from "./ending.ts";

/** The effects that a scenario's tools declare, those of its sub-agents included. */
export function effectsOf(scenario: Scenario): EffectOf {
  const effects = new Map<string, ReturnType<EffectOf>>();
  const boundaries = { cross: () => undefined, passed: [] };
  const tally = { file: 0, add: () => undefined, lines: () => [] };
  const gates = createGates();
  const agent = scenario.agent({
    model: (replies) => tableModel(replies, { boundaries, gates, requests: tally }),
    tool: (plan) => {
      const tool = makeTool(plan, { boundaries, gates, effects: tally });
      effects.set(tool.name, tool.effect);
      return tool;
    },
    gates,
    boundaries,
  });
  const own = agent.tools as readonly {
    readonly name: string;
    readonly effect: ReturnType<EffectOf>;
  }[];
  for (const { name, effect } of own) effects.set(name, effect);
  return (tool) => effects.get(tool) ?? "pure";
}
