import { describe, it } from "vitest";
import { law, simulateSession } from "../testing/decide-laws.ts";
import { firstSeed, runs } from "../../../../tests/kit/runs.ts";
import { decide } from "./decide.ts";

describe("decide", () => {
  const count = runs(30_000, 10_000_000);

  it(
    "gives the same decisions for the same history, changes nothing, and keeps its laws",
    { timeout: 900_000 * Math.max(0.1, count / 100_000) },
    () => {
      const first = firstSeed;
      let decisions = 0;
      for (let seed = first; seed < first + count; seed += 1) {
        try {
          const made = simulateSession(seed);
          decisions += made.length;
          for (const { state, action } of made) {
            law(JSON.stringify(decide(state)) === action, "decides otherwise the second time");
          }
        } catch (error) {
          throw new Error(`SEED=${seed}: ${String(error)}`, { cause: error });
        }
      }
      console.log(
        `count: decisions are pure, end every run and keep their laws, ${count} histories, ${decisions} decisions, 0 failures`,
      );
    },
  );
});
