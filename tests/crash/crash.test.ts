import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { runs } from "../kit/runs.ts";
import { goldenFile, sectionsWithoutCase } from "../kit/golden.ts";
import { bundleChild } from "./bundle.ts";
import { storyOf } from "./check/evidence.ts";
import { killAndRecover, runClean } from "./kill.ts";
import { scenarios } from "./scenarios/all.ts";
import { choosePlaces, numbersFrom } from "./seed.ts";

const campaign = process.env["CAMPAIGN"] === "1";
vi.setConfig({ testTimeout: campaign ? 24 * 3_600_000 : 300_000 });

/** Kills in all, or nearly. A campaign reaches every boundary of every scenario. */
const killsWanted = Number(process.env["KILLS"] ?? runs(800, 14_000, 250));
const atOnce = 4;
const only = process.env["SCENARIO"];

const names = scenarios.map(({ name }) => name);
const goldenPath = join(import.meta.dirname, "golden.txt");

const counts = { scenarios: 0, boundaries: 0, kills: 0, recoveries: 0, failures: 0 };
const places = new Map<string, number>();
let folder = "";
let program = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "millrace-crash-"));
  program = await bundleChild(folder);
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  const { kills, recoveries, boundaries, failures } = counts;
  const where = [...places].toSorted(([, a], [, b]) => b - a).map(([place, n]) => `${place} ${n}`);
  console.log(`count: crash scenarios, ${counts.scenarios} sessions, ${boundaries} boundaries`);
  console.log(
    `count: killed and taken up again, ${kills + recoveries} kills, ${failures} failures`,
  );
  console.log(`count: of them recoveries, ${recoveries} kills`);
  console.log(`killed at: ${where.join(", ")}`);
});

/** All jobs, some at once. What fails is thrown once all have ended. */
async function inParallel(jobs: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  const waiting = jobs.values();
  const work = async (): Promise<void> => {
    for (const job of waiting) await job().catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  counts.failures += failures.length;
  if (failures.length > 0)
    throw new Error(
      `${failures.length} of ${jobs.length} failed:\n${failures.slice(0, 5).map(String).join("\n\n")}`,
    );
}

describe("a session that is killed at any boundary, and again while it recovers", () => {
  const expectGolden = goldenFile(goldenPath, names);
  const known = scenarios.filter(({ name }) => only === undefined || name.includes(only));

  it.each(known)(
    "comes to its end, with nothing lost and nothing done twice: $name",
    async (scenario) => {
      const place = { scenario, program, folder };
      const { boundaries, clean } = await runClean(place);
      expectGolden(scenario.name, storyOf(clean));

      const random = numbersFrom(boundaries.length * 7_919 + scenarios.indexOf(scenario));
      await inParallel(
        itemSlotsOf(boundaries, random).map((at) => {
          const then = 1 + Math.floor(random() * Math.max(4, boundaries.length - at));
          return async () => {
            const { ends, kills, recoveries } = await killAndRecover({ ...place, clean }, at, then);
            counts.kills += kills;
            counts.recoveries += recoveries;
            for (const end of ends) places.set(end, (places.get(end) ?? 0) + 1);
          };
        }),
      );
      counts.scenarios += 1;
      counts.boundaries += boundaries.length;
    },
  );

  it.skipIf(only !== undefined)("is killed as often as we say", () => {
    // Some places are not reached, since the order of what happens at once is not fixed.
    const least = campaign ? Math.min(killsWanted, 14_000) : 0.875 * killsWanted;
    expect(counts.kills + counts.recoveries).toBeGreaterThanOrEqual(least);
  });

  it("has a name for each scenario, and a scenario for each golden", () => {
    expect(new Set(names).size).toBe(names.length);
    expect(sectionsWithoutCase(goldenPath, names)).toEqual([]);
  });
});

/** A scenario's share of the kills: all its places over and over, and a choice of them for the rest. */
function itemSlotsOf(boundaries: readonly string[], random: () => number): readonly number[] {
  const even = Math.ceil(killsWanted / scenarios.length / 2);
  const share = campaign ? Math.max(even, boundaries.length) : even;
  const places: number[] = [];
  while (places.length < share)
    places.push(...choosePlaces(boundaries, share - places.length, random));
  return places;
}
