import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstSeed, runs } from "../kit/runs.ts";
import { hashAtOnce } from "./kit/hash.ts";
import { trip } from "./kit/tripwire.ts";

describe("a tool", () => {
  let undo = (): void => undefined;
  beforeAll(() => {
    undo = hashAtOnce();
  });
  afterAll(() => undo());

  // As many as fit into two minutes of one core; in a campaign `SEED` is the first seed.
  const count = runs(20_000, 30_000_000);
  const turnsOfRun = 40;

  it(
    "runs only for a whole, sound, offered and allowed call, whatever a model writes",
    { timeout: 900_000 * Math.max(1, count / 120_000) },
    async () => {
      const first = firstSeed;
      let turns = 0;
      let executions = 0;
      for (let seed = first; turns < count; seed += 1) {
        const tripped = await trip(seed, turnsOfRun);
        turns += tripped.turns;
        executions += tripped.executions;
        expect(tripped.wrong, `SEED=${seed}`).toStrictEqual([]);
      }

      expect(executions).toBeGreaterThan(turns / 5);
      console.log(
        `count: a tool never runs on half a request, ${turns} hostile turns, ${executions} executions, 0 wrong`,
      );
    },
  );
});
