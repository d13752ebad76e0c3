/** Runs that kill the worker that performs their steps, where Temporal drives. */
import { afterAll, beforeAll, it } from "vitest";
import { startTemporal } from "../../scripts/services/temporal.ts";
import type { TemporalServer } from "../../scripts/services/temporal.ts";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { bundleTemporalNodes } from "../kit/deployment/bundle-temporal.ts";
import { harmless } from "./poison-agent.ts";
import type { Poison } from "./poison-agent.ts";
import { PoisonedDeployment } from "./poisoned-deployment.ts";

const started = new AsyncDisposableStack();
let programs: NodePrograms;
let temporal: TemporalServer;
beforeAll(async () => {
  const worker = new URL("./temporal-worker.ts", import.meta.url);
  [programs, temporal] = await Promise.all([bundleTemporalNodes({ worker }), startTemporal()]);
  started.use(programs);
  started.use(temporal);
}, 120_000);
afterAll(() => started.disposeAsync());

const patience = { timeout: 240_000 };

function start(poison: Omit<Poison, "hits">): Promise<PoisonedDeployment> {
  return PoisonedDeployment.start(poison, {
    programs,
    drives: "temporal",
    temporal,
    heartbeatMs: 1_000,
  });
}

it.concurrent(
  "a run that kills its workers asks once under a limit that one request reaches",
  patience,
  async ({ expect }) => {
    await using deployment = await start({
      kills: "reply",
      limits: { turns: 1, tokens: 10, cost: 0.000_1 },
    });

    expect(await deployment.outlive("go")).toMatchObject({ outcome: "limited", limit: "tokens" });
    expect(deployment.hits.reply).toBe(1);
  },
);

it.concurrent(
  "a run that kills its workers fails after five requests, and the next prompt is answered",
  patience,
  async ({ expect }) => {
    await using deployment = await start({ kills: "reply" });

    expect(await deployment.outlive("go")).toMatchObject({ cause: { code: "driver_lost" } });
    expect(deployment.hits.reply).toBe(5);
    expect(await deployment.outlive(harmless)).toMatchObject({ outcome: "completed" });
  },
);

it.concurrent(
  "a run whose tool kills its workers fails after five calls of it",
  patience,
  async ({ expect }) => {
    await using deployment = await start({ kills: "tool" });

    expect(await deployment.outlive("go")).toMatchObject({ cause: { code: "driver_lost" } });
    expect(deployment.hits).toEqual({ reply: 1, tool: 5 });
  },
);
