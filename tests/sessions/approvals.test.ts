import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstSeed, runs } from "../kit/runs.ts";
import { approve } from "./kit/approvals.ts";
import { hashAtOnce } from "./kit/hash.ts";

describe("what was approved", () => {
  let undo = (): void => undefined;
  beforeAll(() => {
    undo = hashAtOnce();
  });
  afterAll(() => undo());

  const count = runs(10_000, 5_000_000, 100);

  it(
    "is exactly what runs, once, whatever changes, and whichever process answers or takes it up",
    { timeout: 900_000 * Math.max(1, count / 10_000) },
    async () => {
      const first = firstSeed;
      const tally = new Map<string, number>();
      for (let seed = first; seed < first + count; seed += 1) {
        expect(await approve(seed, tally), `SEED=${seed}`).toStrictEqual([]);
      }

      expect(tally.get("intent")).toBeGreaterThan(count / 10);
      const told = [...tally].map(([what, times]) => `${what} ${times}`).join(", ");
      console.log(`count: what was approved is what runs, ${count} sessions, 0 others (${told})`);
    },
  );
});
