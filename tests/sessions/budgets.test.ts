import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstSeed, runs } from "../kit/runs.ts";
import { hashAtOnce } from "./kit/hash.ts";
import { runaway } from "./kit/runaway.ts";

describe("a run that wants never to end", () => {
  let undo = (): void => undefined;
  beforeAll(() => {
    undo = hashAtOnce();
  });
  afterAll(() => undo());

  const count = runs(1_500, 1_000_000, 50);

  it(
    "ends within its budgets, with no more overspent than was under way",
    { timeout: 900_000 * Math.max(1, count / 10_000) },
    async () => {
      const first = firstSeed;
      const outcomes = new Map<string, number>();
      let requests = 0;
      for (let seed = first; seed < first + count; seed += 1) {
        const ran = await runaway(seed);
        requests += ran.requests;
        outcomes.set(ran.outcome, (outcomes.get(ran.outcome) ?? 0) + 1);
        expect(ran.wrong, `SEED=${seed}`).toStrictEqual([]);
      }

      const told = [...outcomes].map(([outcome, times]) => `${outcome} ${times}`).join(", ");
      console.log(
        `count: every run ends within its budget, ${count} runs of ${requests} requests, 0 overspent (${told})`,
      );
    },
  );
});
