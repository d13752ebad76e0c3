/** Finds the fewest faults and actions with which a history still breaks the same rule. */
import { play } from "./play.ts";
import type { Plan } from "./scene/plan.ts";

export interface ShrinkOptions {
  readonly rule: string;
  /** How many histories are played at most. */
  readonly plays: number;
}

/** By delta debugging: halves, then quarters, and so on are left out, faults first. */
export async function shrink(plan: Plan, { rule, plays }: ShrinkOptions): Promise<Plan> {
  const budget = { plays };
  const breaks = async (tried: Plan): Promise<boolean> => {
    budget.plays -= 1;
    const { breaches } = await play(tried);
    return breaches.some((breach) => breach.rule === rule);
  };
  let least = plan;
  for (const rows of ["faults", "actions"] as const)
    for (let parts = 2; least[rows].length > 0 && budget.plays > 0;) {
      const size = Math.ceil(least[rows].length / parts);
      const smaller = await firstThat(breaks, budget, without(least, rows, size));
      if (smaller === undefined && size === 1) break;
      parts = smaller === undefined ? parts * 2 : Math.max(2, parts - 1);
      least = smaller ?? least;
    }
  const early = { ...least, minutes: minutesOf(least) };
  return budget.plays > 0 && (await breaks(early)) ? early : least;
}

/** The plan without its first rows, without those behind them, and so on. */
function* without(plan: Plan, rows: "faults" | "actions", size: number): Iterable<Plan> {
  for (let at = 0; at < plan[rows].length; at += size)
    yield { ...plan, [rows]: plan[rows].filter((_, row) => row < at || row >= at + size) };
}

async function firstThat(
  breaks: (plan: Plan) => Promise<boolean>,
  budget: { readonly plays: number },
  plans: Iterable<Plan>,
): Promise<Plan | undefined> {
  for (const plan of plans) if (budget.plays > 0 && (await breaks(plan))) return plan;
  return undefined;
}

/** Until five seconds after the last row. */
function minutesOf({ faults, actions }: Plan): number {
  const times = [...faults, ...actions].map(({ at }) => at);
  return (Math.max(0, ...times) + 5_000) / 60_000;
}
