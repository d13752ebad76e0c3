import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstSeed, runs } from "../kit/runs.ts";
import { hashAtOnce } from "./kit/hash.ts";
import { World } from "./kit/world.ts";
import type { Tally } from "./kit/world.ts";

/** What has to have happened often for the test to be meaningful. */
const wanted = [
  "prompt",
  "abort",
  "decision",
  "answer",
  "fork",
  "crash",
  "crash, and a zombie",
  "request",
  "part",
  "moment",
  "request for a summary",
  "compaction",
  "compaction in vain",
  "run completed",
  "run aborted",
  "run failed",
  "run limited",
  "tool ok",
  "tool failed",
  "tool aborted",
  "tool unknown",
];

describe("a session", () => {
  let undo = (): void => undefined;
  beforeAll(() => {
    undo = hashAtOnce();
  });
  afterAll(() => undo());

  // 200,000 take half an hour of one core, so each night gets a part of them. In a campaign `SEED`
  // is the first seed, so that several processes can share it.
  const count = runs(4_000, 1_000_000, 30);

  it(
    "can always be continued: whatever happens to it, each request is one that all five protocols take",
    { timeout: 1_800_000 * Math.max(1, count / 25_000) },
    async () => {
      const first = firstSeed;
      const tally: Tally = new Map();
      const found = new Map<string, string>();
      for (let seed = first; seed < first + count && found.size < 10; seed += 1) {
        for (const fault of await new World(seed, tally).live()) {
          const sort = fault.replaceAll(/\d+/g, "0");
          if (!found.has(sort)) found.set(sort, `SEED=${seed}: ${fault}`);
        }
      }

      expect([...found.values()].join("\n")).toBe("");
      const missing = wanted.filter((what) => (tally.get(what) ?? 0) < count / 100);
      expect(count < 1_000 ? [] : missing).toStrictEqual([]);
      const told = [...tally].map(([what, times]) => `${what} ${times}`).join(", ");
      console.log(`count: a session can always be continued, ${count} sessions, 0 failures`);
      console.log(
        `count: no part id is in two items, ${count} sessions with ${tally.get("part")} parts, 0 failures`,
      );
      console.log(`count: ${tally.get("request")} requests x 5 protocols valid (${told})`);
    },
  );
});
