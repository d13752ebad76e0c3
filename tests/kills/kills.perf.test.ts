import { createInbox } from "@millrace/core";
import type { Fact } from "@millrace/core";
import type { SessionUid } from "@millrace/core";
import { redisLog } from "@millrace/stores/redis";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleNodes } from "../kit/deployment/bundle.ts";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { textOfDirective } from "../kit/deployment/directive.ts";
import { distribution, percentile } from "../kit/distribution.ts";
import { inParallel } from "../kit/in-parallel.ts";
import { retryWhenNoisy } from "../kit/retry-when-noisy.ts";
import { Random } from "../kit/random.ts";
import { firstSeed as seed, runs } from "../kit/runs.ts";
import { isRunOver } from "../kit/deployment/is-run-over.ts";
import { until } from "../kit/until.ts";
import { Killing } from "./killing.ts";

const killCount = Number(process.env["KILLS"] ?? runs(30, 300, 6));
/** Each with servers and three workers of its own. */
const deploymentCount = 3;
const orphanCount = Number(process.env["ORPHANS"] ?? runs(200, 200, 40));

let programs: NodePrograms;

/** How long screens stood still. */
interface Figures {
  readonly p95: number;
  readonly max: number;
  readonly all: string;
}

/** Kills drivers in several deployments at once. */
async function measureStandstills(): Promise<Figures> {
  const jobs = Array.from({ length: deploymentCount }, (_, at) => () => killSome(seed + at));
  const standstills = (await inParallel(jobs, deploymentCount)).flat();
  const [p95, max] = [percentile(standstills, 0.95), percentile(standstills, 1)];
  return { p95, max, all: distribution(standstills) };
}

/** Kills drivers of one deployment, and waits until all runs have ended. */
async function killSome(ownSeed: number): Promise<readonly number[]> {
  await using deployment = await Deployment.start({
    programs,
    drives: "pool",
    workers: 3,
    webs: 1,
    agent: { chunkMs: 15 },
  });
  const killing = new Killing(deployment, new Random(ownSeed));
  const standstills: number[] = [];
  for (let kills = 0; kills < killCount / deploymentCount;) {
    const hit = await killing.kill();
    if (hit.length > 0) kills += 1;
    standstills.push(...hit.map(({ ms }) => ms));
  }
  const { store, strays } = deployment;
  for (const session of killing.sessions) {
    const uid = (await store.find(session))?.uid;
    if (uid === undefined) throw new Error(`${session} is not stored`);
    await until(async () => isRunOver(await store.read(uid)), `the run of ${session} ends`);
    expect((await store.verify(session)).ok).toBe(true);
  }
  expect([...killing.faults, ...strays]).toEqual([]);
  return standstills;
}

beforeAll(async () => {
  programs = await bundleNodes();
});
afterAll(() => programs[Symbol.asyncDispose]());

it(
  "the screen of a reply whose driver is killed goes on within seconds, and no run is left",
  { timeout: 600_000 * Math.max(1, killCount / 30) },
  async () => {
    console.log(`SEED=${seed}`); // printed before it may fail
    const { p95, max, all } = await retryWhenNoisy(
      measureStandstills,
      (figures) => figures.p95 <= 3_000 && figures.max <= 6_000,
    );

    console.log(
      `count: drivers killed in mid-reply (seed ${seed}), ${killCount} kills, 0 runs left; until a screen goes on: ${all}`,
    );
    expect(p95).toBeLessThanOrEqual(3_000);
    expect(max).toBeLessThanOrEqual(6_000);
  },
);

it(
  "a new worker finds the runs of workers that are all dead, and ends them",
  { timeout: 300_000 },
  async () => {
    await using deployment = await Deployment.start({
      programs,
      drives: "pool",
      workers: 3,
      webs: 0,
      agent: { chunkMs: 20_000 }, // so slow that none ends before all are on
    });
    const { store } = deployment;
    await using log = redisLog({ url: deployment.redis.url });
    const uids: SessionUid[] = [];
    for (let at = 0; at < orphanCount; at += 1) {
      const { uid } = await store.create({ sessionId: `orphan-${at}` });
      const inbox = createInbox({ store, log, uid });
      await inbox.send(textOfDirective({ key: `orphan-${at}`, mode: "plain", length: 80 }));
      uids.push(uid);
    }
    const allAre = (isSo: (facts: readonly Fact[]) => boolean) => async (): Promise<boolean> => {
      for (const uid of uids) if (!isSo(await store.read(uid))) return false;
      return true;
    };
    await until(
      allAre((facts) => facts.some(({ type }) => type === "run_started")),
      "all runs are on",
      { everyMs: 200 },
    );
    await Promise.all(deployment.workers.map(({ process }) => process.kill()));
    const left = await Promise.all(uids.map(async (uid) => !isRunOver(await store.read(uid))));
    const begun = performance.now();

    await deployment.addWorker({ chunkMs: 5 });

    await until(allAre(isRunOver), "all runs have ended", { limitMs: 120_000, everyMs: 200 });
    const orphans = left.filter(Boolean).length;
    console.log(
      `count: orphaned runs found by a new worker, ${orphans} of ${orphanCount} runs, 0 left, all ended after ${Math.round(performance.now() - begun)} ms`,
    );
    expect(orphans).toBeGreaterThan(orphanCount * 0.9);
    expect(deployment.strays).toEqual([]);
  },
);
