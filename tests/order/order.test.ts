import { describe, expect, it } from "vitest";
import { firstSeed, isChange, runs } from "../kit/runs.ts";
import { exhaust, explore, walk } from "./explore.ts";
import type { Stage } from "./history.ts";
import { faultKinds, rules } from "./setting.ts";
import { bounded, settingOf } from "./settings.ts";
import { byFollow, byHub, WatchingHub } from "./watching-hub.ts";

/** Of 100,000 histories in each night these go by readers as users have them. */
const readers = {
  "through the hub": { makeWatch: byHub, count: runs(10_000, 500_000, 1_500) },
  "by follow": { makeWatch: byFollow, count: runs(10_000, 500_000, 1_500) },
};
const few = runs(5_000, 5_000, 5_000);
/** A campaign of 10 million is run in parts, each with a `SEED` to begin with and a `COUNT`. */
const from = Number(process.env["SEED"] ?? few + firstSeed);
const count = Number(process.env["COUNT"] ?? runs(40_000, 1_000_000));

describe("identity and order, on the real apply, store and log", () => {
  // Apart, because the defects of tests/planted need no more.
  it("holds in the first random histories", { timeout: 120_000 }, async () => {
    const { broken, kinds } = await explore({ first: 1, count: few });

    expect(broken).toBeUndefined();
    expect(faultKinds.filter((kind) => !kinds.has(kind))).toStrictEqual([]);
  });

  it(
    "holds in random histories with claims, zombies, resets and losses",
    { timeout: 600_000 * Math.max(1, count / 100_000) },
    async () => {
      const { broken, faults, steps } = await explore({ first: from, count });

      expect(broken).toBeUndefined();
      expect(faults).toBeGreaterThan(count);
      console.log(
        `count: identity and order, ${count} histories from ${from}, ${faults} faults, ${steps} steps, 0 violations`,
      );
    },
  );

  it.each(Object.entries(readers))(
    "holds for whoever watches %s",
    { timeout: 600_000 * Math.max(1, readers["by follow"].count / 10_000) },
    async (name, { makeWatch, count: watched }) => {
      const makeHub: Stage["makeHub"] = (session, node) =>
        new WatchingHub(session, node, makeWatch);
      const first = firstSeed;
      const stageOf = (): Stage => ({ makeHub });
      const { broken, faults, steps } = await explore({ first, count: watched, stageOf });

      expect(broken).toBeUndefined();
      expect(faults).toBeGreaterThan(watched);
      console.log(
        `count: identity and order ${name}, ${watched} histories from ${first}, ${faults} faults, ${steps} steps, 0 violations`,
      );
    },
  );

  const campaign = runs(0, 1) > 0;
  const limit = campaign ? 1_000_000 : 50_000;

  it.each(
    bounded.filter(
      ({ only }) => campaign || (only !== "campaign" && !(isChange && only === "nightly")),
    ),
  )(
    "holds in all histories of $name",
    { timeout: 600_000 * (limit / 50_000) },
    async ({ name, setting, only }) => {
      const { broken, path = [], states, ends, complete } = await exhaust(setting, limit);

      expect(broken, path.join(" > ")).toBeUndefined();
      expect(ends).toBeGreaterThan(0);
      expect(complete || only === "campaign").toBe(true);
      console.log(
        `count: ${name}, ${states} states, ${ends} ends, ${complete ? "all" : "bounded"}, 0 violations`,
      );
    },
  );

  it.each(rules)("is seen to break when it is not so that %s", async (without) => {
    for (let seed = 1; seed <= 5_000; seed += 1) {
      const { broken } = await walk({ ...settingOf(seed), without }, seed);
      if (broken === undefined) continue;
      console.log(`count: without "${without}" history ${seed} breaks: ${broken}`);
      return;
    }
    expect.fail("no history noticed it");
  });
});
