import { describe, expect, it } from "vitest";
import { runs } from "../kit/runs.ts";
import { explore } from "./explore.ts";
import type { Explored } from "./explore.ts";
import type { MakeHub } from "./history.ts";
import { StepHub } from "./hub.ts";
import { realEngines } from "./real-engines.ts";
import { faultKinds } from "./setting.ts";
import { byFollow, byHub, WatchingHub } from "./watching-hub.ts";

/** In turn. */
const hubs: readonly MakeHub[] = [
  (session, node) => new StepHub(session, node),
  (session, node) => new WatchingHub(session, node, byHub),
  (session, node) => new WatchingHub(session, node, byFollow),
];

const few = 150;
const first = Number(process.env["SEED"] ?? few + 1);
const count = Number(process.env["COUNT"] ?? runs(2_000, 20_000, 300));

async function exploreReal(from: number, histories: number): Promise<Explored> {
  await using engines = await realEngines();
  return await explore({
    first: from,
    count: histories,
    together: 48,
    stageOf: (seed) => ({ engines, makeHub: hubs[seed % hubs.length] }),
  });
}

describe("identity and order, on PostgreSQL and Redis and for two processes", () => {
  // Apart, because the defects of tests/planted need no more.
  it("hold in the first random histories", { timeout: 600_000 }, async () => {
    const { broken } = await exploreReal(1, few);

    expect(broken).toBeUndefined();
  });

  it("hold in random histories", { timeout: 600_000 * Math.max(1, count / 2_000) }, async () => {
    const { broken, kinds, faults, steps } = await exploreReal(first, count);

    expect(broken).toBeUndefined();
    expect(count < 1_000 ? [] : faultKinds.filter((kind) => !kinds.has(kind))).toStrictEqual([]);
    console.log(
      `count: identity and order on PostgreSQL and Redis, ${count} histories from ${first}, ${faults} faults, ${steps} steps, 0 violations`,
    );
  });
});
