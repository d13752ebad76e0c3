import { afterAll, beforeAll, expect, it } from "vitest";
import { runCampaign } from "../chaos/campaign.ts";
import { bundleTemporalChaosNodes } from "../chaos/nodes/bundle.ts";
import { heartbeatMs } from "../chaos/nodes/chaos-agent.ts";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { firstSeed, runs } from "../kit/runs.ts";

const histories = Number(process.env["HISTORIES"] ?? runs(8, 40));
/** Each has a Temporal server of its own, and takes a core. */
const atOnce = Number(process.env["AT_ONCE"] ?? 2);
const faultMs = runs(8_000, 25_000);
/** As without Temporal, and the time without a heartbeat by which it finds that a worker is gone. */
const stillLimitMs = 5_000 + 3 * heartbeatMs + 2_000;
/** A workflow that an operator terminates is missed a minute later. */
const restMs = 90_000;

let programs: NodePrograms;

beforeAll(async () => {
  programs = await bundleTemporalChaosNodes();
}, 120_000);
afterAll(() => programs[Symbol.asyncDispose]());

it(
  "whatever befalls Temporal, its servers and processes, a deployment loses and doubles nothing, and then goes on by itself",
  { timeout: 600_000 * Math.max(1, histories / 8) },
  async () => {
    const drives = () => "temporal" as const;
    const name = "chaos with Temporal";
    const campaign = { name, firstSeed, histories, atOnce, faultMs, restMs, programs, drives };

    const { stillP99, faults } = await runCampaign(campaign);

    expect(stillP99).toBeLessThanOrEqual(stillLimitMs);
    expect(faults).toBeGreaterThan(histories * 4);
  },
);
