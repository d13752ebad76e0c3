import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { compare } from "./check/compare.ts";
import { checkEnding } from "./check/ending.ts";
import type { EffectOf } from "./check/ending.ts";
import type { Evidence } from "./check/evidence.ts";
import { checkPrefix } from "./check/prefix.ts";
import { createGates } from "./kit/gates.ts";
import { tableModel } from "./kit/model.ts";
import { makeTool } from "./kit/tools.ts";
import type { Scenario } from "./scenario.ts";
import { Trial } from "./trial.ts";

export interface Place {
  readonly scenario: Scenario;
  /** What the processes run. */
  readonly program: string;
  /** Where they leave what they leave. */
  readonly folder: string;
}

/** Runs a scenario without a kill: which boundaries it has, and what it comes to. */
export async function runClean(
  place: Place,
): Promise<{ readonly boundaries: readonly string[]; readonly clean: Evidence }> {
  const { scenario } = place;
  const trial = await begin(place);
  const { boundaries } = await trial.run(0);
  const clean = await trial.evidence();
  checkPrefix(scenario, clean);
  checkEnding(scenario, clean, effectsOf(scenario));
  await trial.remove();
  return { boundaries, clean };
}

export interface Killed {
  /** 1 if the boundary was reached, and the same for the recovery: their number is not quite fixed. */
  readonly kills: number;
  readonly recoveries: number;
  /** At which sort of boundary. */
  readonly ends: readonly string[];
}

/** Kills at one boundary, kills the recovery at another, and looks at what is left each time. */
export async function killAndRecover(
  place: Place & { readonly clean: Evidence },
  at: number,
  then: number,
): Promise<Killed> {
  const { scenario, clean } = place;
  const trial = await begin(place);
  const effectOf = effectsOf(scenario);
  try {
    const first = await trial.run(at);
    checkPrefix(scenario, await trial.evidence());
    const second = await trial.run(then);
    checkPrefix(scenario, await trial.evidence());
    await trial.run(0);
    const left = await trial.evidence();
    checkPrefix(scenario, left);
    checkEnding(scenario, left, effectOf);
    compare(clean, left, effectOf);
    await trial.remove();
    return { kills: Number(first.killed), recoveries: Number(second.killed), ends: left.ends };
  } catch (error) {
    const { ends } = await trial.evidence().catch(() => ({ ends: [] }));
    const where = `killed at ${at} and ${then} (${ends.join(", ")})`;
    throw new Error(`${scenario.name}, ${where}: ${String(error)}`, { cause: error });
  }
}

async function begin({ scenario, program, folder }: Place): Promise<Trial> {
  return await Trial.begin(scenario, program, await mkdtemp(join(folder, "trial-")));
}

/** The effects that a scenario's tools declare, those of its sub-agents included. */
function effectsOf(scenario: Scenario): EffectOf {
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
