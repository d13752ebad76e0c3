/** Runs that kill the worker that drives them, on PostgreSQL and Redis. */
import { afterAll, beforeAll, it } from "vitest";
import { bundleNodes } from "../kit/deployment/bundle.ts";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { harmless } from "./poison-agent.ts";
import { PoisonedDeployment } from "./poisoned-deployment.ts";

let programs: NodePrograms;
beforeAll(async () => {
  programs = await bundleNodes(new URL("./pool-worker.ts", import.meta.url));
}, 60_000);
afterAll(() => programs[Symbol.asyncDispose]());

const patience = { timeout: 180_000 };

it.concurrent(
  "a run that kills its workers asks once under a limit that one request reaches",
  patience,
  async ({ expect }) => {
    const limits = { turns: 1, tokens: 10, cost: 0.000_1 };
    await using deployment = await PoisonedDeployment.start(
      { kills: "reply", limits },
      { programs, drives: "pool" },
    );

    expect(await deployment.outlive("go")).toMatchObject({ outcome: "limited", limit: "tokens" });
    expect(deployment.hits.reply).toBe(1);
  },
);

it.concurrent(
  "a run that kills its workers fails after five requests, and the next prompt is answered",
  patience,
  async ({ expect }) => {
    await using deployment = await PoisonedDeployment.start(
      { kills: "reply" },
      { programs, drives: "pool" },
    );

    expect(await deployment.outlive("go")).toMatchObject({ cause: { code: "driver_lost" } });
    expect(deployment.hits.reply).toBe(5);
    expect(await deployment.outlive(harmless)).toMatchObject({ outcome: "completed" });
  },
);
