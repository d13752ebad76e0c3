import { defineAgent, defineTool } from "@millrace/agent";
import { memoryEventLog, memorySessionStore, systemClock } from "@millrace/core/memory";
import type { ClaimOutcome, EventLog, SessionStore } from "@millrace/core/ports";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { postgresStore } from "@millrace/stores/postgres";
import { redisLog } from "@millrace/stores/redis";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { DriverLife, shareLife } from "../../packages/agent/src/drive/life.ts";
import { defaultTimes } from "../../packages/agent/src/drive/observation.ts";
import type { LifeTimes } from "../../packages/agent/src/drive/observation.ts";
import { sharedPostgres, sharedRedis } from "../../scripts/services/shared.ts";
import { runs } from "../kit/runs.ts";
import { until } from "../kit/until.ts";

/** Only a release can end this driver's wait within a test. */
const neverDead: LifeTimes = { ...defaultTimes, deadMs: 600_000 };
const quick: LifeTimes = { beatMs: 10, deadMs: 100, gapMs: 5_000 };

/** The ports that both processes share, and the session of one trial. */
interface Ports {
  readonly shared: SessionStore;
  readonly log: EventLog;
  readonly id: string;
}

/** The store as one more process has it: a copy has a driver name of its own. */
function ofProcess(
  shared: SessionStore,
  times: LifeTimes,
  changes: Partial<SessionStore> = {},
): SessionStore {
  const store = { ...shared, ...changes };
  const life = new DriverLife({ clock: systemClock, times });
  shareLife(store, systemClock, life);
  return store;
}

/** An effectful tool that counts its executions, and calls `after` once in each. */
function countingTool(after: () => Promise<void> = async () => undefined) {
  const count = { runs: 0 };
  const tool = defineTool({
    name: "pay",
    input: z.object({}),
    run: async () => {
      count.runs += 1;
      await after();
      return "paid";
    },
  });
  return { tool, count };
}

const moments = [
  "between the intent and the effect",
  "between the effect and its settlement",
  "before the answer to the claim",
] as const;

/** Lets a second process take the run at one moment of the first. Returns how often the tool ran. */
async function forceClaim(moment: (typeof moments)[number], { shared, log, id }: Ports) {
  const drivers = shared.drivers;
  if (drivers === undefined) throw new Error("the store has no index");
  const forced = { value: false };
  const { uid } = await shared.create({ sessionId: id });
  /** Resolves when the second process has claimed. */
  const taken = async (): Promise<void> => {
    if (forced.value) return;
    const before = (await shared.find(id))?.incarnation ?? 0;
    forced.value = true;
    while (((await shared.find(id))?.incarnation ?? 0) <= before)
      await new Promise((resolve) => setTimeout(resolve, 1));
  };
  const first = ofProcess(shared, neverDead, {
    open: async (of, request) => {
      const answer = await shared.open(of, request);
      if (request.intent !== undefined && moment === moments[0]) await taken();
      return answer;
    },
    claim: async (of, request): Promise<ClaimOutcome> => {
      const answer = await shared.claim(of, request);
      if (answer.outcome === "claimed" && moment === moments[2]) await taken();
      return answer;
    },
  });
  // The second process finds no driver from that moment on, as if the first were dead.
  const find: typeof drivers.find = async (of) =>
    forced.value ? undefined : ((await drivers.find(of)) ?? { driver: "none yet", beat: 1 });
  const second = ofProcess(shared, quick, { drivers: { ...drivers, find } });
  const { tool, count } = countingTool(moment === moments[1] ? taken : undefined);
  const model = scriptedModel([[call("pay", {})], [say("Paid.")]]);
  const agent = defineAgent({ model, tools: [tool] });
  const here = await agent.open({ id, store: first, log });
  const run = here.send("pay");
  await run.accepted;
  // The first process has the prompt before the second one is there.
  await until(async () => ((await shared.find(id))?.incarnation ?? 0) > 0, "the first has claimed");
  const there = await agent.open({ id, store: second, log });
  const { outcome } = await run.result;
  const facts = await shared.read(uid);
  const intents = facts.filter(({ type }) => type === "tool_execution_started").length;
  const claims = facts.filter(({ type }) => type === "session_claimed").length;
  await here.close();
  await there.close();
  return { runs: count.runs, outcome, intents, claims };
}

async function force(times: number, portsOf: (id: string) => Ports, where: string): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    const moment = moments[at % moments.length] ?? moments[0];
    const trial = await forceClaim(moment, portsOf(`forced-${at}`));

    expect({ moment, ...trial }).toMatchObject({ moment, outcome: "completed", intents: 1 });
    expect(trial.claims).toBeGreaterThanOrEqual(2);
    expect(trial.runs).toBeLessThanOrEqual(1);
    if (moment !== moments[0]) expect(trial.runs).toBe(1);
  }
  console.log(
    `count: forced claims at the worst moment, ${where}, ${times} claims, 0 effects twice`,
  );
}

describe("a claim at the worst moment never runs an effectful tool twice", () => {
  it("in memory", { timeout: 300_000 }, async () => {
    const shared = memorySessionStore();
    const log = memoryEventLog();
    await force(runs(21, 201), (id) => ({ shared, log, id }), "memory");
  });

  it("over PostgreSQL and Redis", { timeout: 300_000 }, async () => {
    await using database = await sharedPostgres();
    const redis = await sharedRedis();
    await using shared = postgresStore({ url: database.url });
    await shared.migrate();
    await using log = redisLog({ url: redis.url, prefix: redis.prefix });
    await force(runs(21, 201), (id) => ({ shared, log, id }), "PostgreSQL and Redis");
  });
});
