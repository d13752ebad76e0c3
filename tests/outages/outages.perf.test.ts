import { setTimeout as sleep } from "node:timers/promises";
import type { SessionUid } from "@millrace/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { bundleNodes } from "../kit/deployment/bundle.ts";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import type { Drives } from "../kit/deployment/deployment.ts";
import { isRunOver } from "../kit/deployment/is-run-over.ts";
import { distribution, percentile } from "../kit/distribution.ts";
import { inParallel } from "../kit/in-parallel.ts";
import { Random } from "../kit/random.ts";
import { firstSeed as seed, runs } from "../kit/runs.ts";
import { CommandedSessions } from "./commanded-sessions.ts";
import type { Effected } from "./commanded-sessions.ts";
import { sendPrompts } from "./busy-sessions.ts";
import { outages, passOutage } from "./outages.ts";
import type { Outage } from "./outages.ts";
import { until } from "../kit/until.ts";

const momentCount = Number(process.env["MOMENTS"] ?? runs(5, 50));
const only = process.env["OUTAGE"];
/** Deployments wait most of the time. */
const atOnce = Number(process.env["AT_ONCE"] ?? 5);
/** From the server's return to the effect of a command. */
const returnLimitMs = 2_000;
/** The heads of sessions are read at least this often, and a command takes effect within a moment of that. */
const pollLimitMs = 5_000 + 500;

let programs: NodePrograms;

beforeAll(async () => {
  programs = await bundleNodes();
});
afterAll(() => programs[Symbol.asyncDispose]());

interface Measured {
  readonly outage: Outage;
  /** Commands sent while only Redis is away. */
  readonly meanwhile: readonly Effected[];
  /** Commands sent when the server is back. */
  readonly afterwards: readonly Effected[];
}

/** One deployment that passes the same outage at some moments. */
async function pass(outage: Outage, drives: Drives, moments: number): Promise<readonly Measured[]> {
  const random = new Random(seed + outages.indexOf(outage) * 7 + (drives === "open" ? 1 : 0));
  const agent = { chunkMs: 60 };
  await using deployment = await Deployment.start({ programs, drives, workers: 2, webs: 1, agent });
  const measured: Measured[] = [];
  const uids: SessionUid[] = [];
  for (let moment = 0; moment < moments; moment += 1) {
    const name = `${drives}-${moment}`;
    const [next, last, busy] = await Promise.all([
      CommandedSessions.begin(deployment, `${name}-meanwhile`),
      CommandedSessions.begin(deployment, `${name}-afterwards`),
      sendPrompts(deployment, name, random),
    ]);
    uids.push(...next.uids, ...last.uids, ...busy);
    await sleep(random.next() * 1_000);
    let meanwhile: readonly Effected[] = [];
    await passOutage(outage, deployment, async () => {
      if (outage.server === "Redis" && outage.ms > 0) meanwhile = await next.command(30_000);
    });
    const afterwards = await last.command(60_000);
    if (meanwhile.length === 0) await next.command(60_000);
    measured.push({ outage, meanwhile, afterwards });
  }
  for (const uid of uids) {
    const isOver = async (): Promise<boolean> => isRunOver(await deployment.store.read(uid));
    await until(isOver, `the run of ${uid} ends`, { everyMs: 100 });
  }
  expect(deployment.strays).toEqual([]);
  return measured;
}

/** Passes an outage in several deployments, of which each second one holds its sessions open. */
function jobsOf(outage: Outage): readonly (() => Promise<readonly Measured[]>)[] {
  const parts = outage.ms > 20_000 ? 5 : outage.ms > 5_000 ? 3 : 2; // long ones pass side by side
  return Array.from({ length: parts }, (_, part) => () => {
    const moments = Math.floor((momentCount + part) / parts);
    return pass(outage, part % 2 === 0 ? "pool" : "open", moments);
  });
}

/** The measurements of one outage, and what is above its limits. */
interface Verdict {
  readonly outage: Outage;
  readonly after: readonly Effected[];
  readonly during: readonly Effected[];
  readonly slow: readonly string[];
}

function judge(outage: Outage, measured: readonly Measured[]): Verdict {
  const own = measured.filter((one) => one.outage === outage);
  const after = own.flatMap(({ afterwards }) => afterwards);
  const during = own.flatMap(({ meanwhile }) => meanwhile);
  const slow = [
    ...(worst(after) > returnLimitMs ? [`${outage.name}: ${worst(after)} ms afterwards`] : []),
    ...(worst(during) > pollLimitMs ? [`${outage.name}: ${worst(during)} ms meanwhile`] : []),
  ];
  return { outage, after, during, slow };
}

/** Measures an outage that was too slow once more, with no other outage beside it. */
async function judgeAgain(verdict: Verdict): Promise<Verdict> {
  const { outage, slow } = verdict;
  if (slow.length === 0) return verdict;
  console.log(`measured again, not within its limits: ${slow.join(", ")}`);
  return judge(outage, (await inParallel(jobsOf(outage), 3)).flat());
}

it(
  "after a server's return every command takes effect within 2 s, and while only Redis is away within one poll",
  { timeout: 600_000 * Math.max(1, momentCount / 5) },
  async () => {
    console.log(`SEED=${seed}`); // printed before it may fail
    const chosen = outages.filter(({ name }) => only === undefined || name.includes(only));

    const measured = (await inParallel(chosen.flatMap(jobsOf), atOnce)).flat();
    const verdicts: Verdict[] = [];
    for (const outage of chosen) verdicts.push(await judgeAgain(judge(outage, measured)));

    for (const { outage, after, during } of verdicts) {
      console.log(`${outage.name}, commands after its return: ${table(after)}`);
      if (during.length > 0) console.log(`${outage.name}, commands meanwhile: ${table(during)}`);
    }
    const commands = verdicts.flatMap(({ after, during }) => [...after, ...during]);
    const slow = verdicts.flatMap((verdict) => verdict.slow);
    console.log(
      `count: outages of Redis and PostgreSQL (seed ${seed}), ${measured.length} outages, ${commands.length} commands, ${slow.length} failures`,
    );
    expect(slow).toEqual([]);
  },
);

function worst(effected: readonly Effected[]): number {
  return percentile(
    effected.map(({ ms }) => ms),
    1,
  );
}

/** The distribution of each command's times. */
function table(effected: readonly Effected[]): string {
  const names = [...new Set(effected.map(({ name }) => name))].toSorted();
  return names
    .map((name) => {
      const times = effected.filter((one) => one.name === name).map(({ ms }) => ms);
      return `${name}: ${distribution(times)}`;
    })
    .join("; ");
}
