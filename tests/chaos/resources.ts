import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "../../scripts/services/redis.ts";
import type { Deployment } from "../kit/deployment/deployment.ts";
import type { OutageProxy } from "../kit/deployment/outage-proxy.ts";
import type { ProcessStats } from "../kit/deployment/process-stats.ts";
import { judgeResources } from "./judge-resources.ts";
import type { IdleProcess } from "./judge-resources.ts";
import type { Violation } from "./oracle.ts";

/** How long after the last viewer left its connections have to be closed. */
const limitMs = 15_000;

/** How long a process that was killed before its claim was stored holds a place: nobody else gives it back. */
const leaseMs = 30_000;

/** How long processes are watched at rest. */
const lookMs = 2_000;

/** Waits until connections and places of runs are free, and judges what processes hold and do then. */
export async function judgeLeft(
  deployment: Deployment,
  edges: readonly OutageProxy[],
  before: readonly (ProcessStats | undefined)[],
): Promise<readonly Violation[]> {
  const left = await Promise.all([
    noneWithin(leaseMs, () => heldPlaces(deployment)),
    noneWithin(limitMs, async () => openConnections(edges)),
  ]);
  return [...left.flat(), ...judgeResources(await idleProcesses(deployment, before))];
}

/** What is found still, some time later. */
async function noneWithin(
  ms: number,
  find: () => Promise<readonly Violation[]>,
): Promise<readonly Violation[]> {
  const end = performance.now() + ms;
  for (;;) {
    const found = await find();
    if (found.length === 0 || performance.now() > end) return found;
    await sleep(200);
  }
}

/** Places that no process has renewed are free already, though their rows are still there. */
const countPlaces = [
  "local time, held = redis.call('TIME'), 0",
  "local now = time[1] * 1000 + math.floor(time[2] / 1000)",
  "for _, key in ipairs(redis.call('KEYS', '*held:*')) do",
  "held = held + redis.call('ZCOUNT', key, now, '+inf') end return held",
].join(" ");

/** Places of runs that somebody still holds in Redis. */
async function heldPlaces({ redis }: Deployment): Promise<readonly Violation[]> {
  const answer = await ask(redis.port, `EVAL "${countPlaces}" 0`).catch(String);
  return answer.includes(":0") ? [] : [{ kind: "place held", what: `places of runs: ${answer}` }];
}

function openConnections(edges: readonly OutageProxy[]): readonly Violation[] {
  const open = edges.reduce((sum, edge) => sum + edge.connections(), 0);
  return open === 0 ? [] : [{ kind: "connection open", what: `${open} of viewers that left` }];
}

async function idleProcesses(
  { nodes }: Deployment,
  before: readonly (ProcessStats | undefined)[],
): Promise<readonly IdleProcess[]> {
  const look = () => Promise.all(nodes.map(({ process }) => process.stats()));
  const one = await look();
  const start = performance.now();
  await sleep(lookMs);
  const ms = performance.now() - start;
  const two = await look();
  return nodes.flatMap(({ name }, at) => {
    const [was, first, second] = [before[at], one[at], two[at]];
    if (was === undefined || first === undefined || second === undefined) return [];
    return [{ name, before: was, after: [first, second] as const, ms }];
  });
}
