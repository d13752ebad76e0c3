import { afterAll, beforeAll, expect, it } from "vitest";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { firstSeed, runs } from "../kit/runs.ts";
import { runCampaign } from "./campaign.ts";
import { bundleChaosNodes } from "./nodes/bundle.ts";
import { heartbeatMs } from "./nodes/chaos-agent.ts";

const histories = Number(process.env["HISTORIES"] ?? runs(30, 200, 15));
/** Each takes half of a core. */
const atOnce = Number(process.env["AT_ONCE"] ?? 3);
const faultMs = runs(10_000, 25_000);
/**
 * The longest time in which a session with work stands still once the faults are over, for 99 of 100: until its
 * work goes on, and until a viewer has noticed that its network was lost without a sign.
 */
const stillLimitMs = 5_000 + 3 * heartbeatMs;
/** How long after the last fault everything has to be at rest. */
const restMs = 15_000;
const ways = ["open", "pool", "inline", "pool"] as const;

let programs: NodePrograms;

beforeAll(async () => {
  programs = await bundleChaosNodes();
}, 120_000);
afterAll(() => programs[Symbol.asyncDispose]());

it(
  "whatever befalls its servers and processes, a deployment loses and doubles nothing, and then goes on by itself",
  { timeout: 600_000 * Math.max(1, histories / 12) },
  async () => {
    const drives = (seed: number) => ways[seed % ways.length] ?? "pool";
    const size = { firstSeed, histories, atOnce, faultMs, restMs };
    const campaign = { name: "chaos", ...size, programs, drives };

    const { stillP99, faults } = await runCampaign(campaign);

    expect(stillP99).toBeLessThanOrEqual(stillLimitMs);
    expect(faults).toBeGreaterThan(histories * 4);
  },
);
