import { setTimeout as sleep } from "node:timers/promises";
import type { SessionRecord } from "@millrace/core/ports";
import { Deployment } from "../kit/deployment/deployment.ts";
import type { Drives } from "../kit/deployment/deployment.ts";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { RemoteViewer } from "../kit/deployment/remote-viewer.ts";
import { Random } from "../kit/random.ts";
import { faults, hinders, temporalFaults } from "./faults.ts";
import { judge } from "./oracle.ts";
import type { SessionHistory, Violation } from "./oracle.ts";
import { People } from "./people.ts";
import { awaitRecovery } from "./recovery.ts";
import type { Recovery } from "./recovery.ts";
import { workflowEvents } from "./workflow-events.ts";

export interface HistoryOptions {
  readonly seed: number;
  readonly programs: NodePrograms;
  readonly drives: Drives;
  /** How long faults happen. */
  readonly faultMs: number;
}

/** What became of a history. */
export interface HistoryResult {
  readonly seed: number;
  /** The faults in order, each with the time at which it began. */
  readonly faults: readonly string[];
  readonly violations: readonly Violation[];
  /** Of each session, after the last fault was over. */
  readonly recoveries: readonly Recovery[];
  readonly sessions: readonly SessionHistory[];
  readonly connections: number;
  /** Of sessions that have not come to rest, if Temporal drives. */
  readonly workflows: readonly (readonly string[])[];
}

const sessionCount = 4;

/** Runs a deployment under faults by the seed, waits until it rests, and judges all that it left. */
export async function runHistory(options: HistoryOptions): Promise<HistoryResult> {
  const { seed, programs, drives } = options;
  const random = new Random(seed);
  await using deployment = await Deployment.start({
    programs,
    drives,
    workers: 3,
    webs: 2,
    agent: { chunkMs: 15 },
    clocks: [0, 0, 0, 0, 0],
  });
  const { store, addresses } = deployment;
  using stack = new DisposableStack();
  const watched: { record: SessionRecord; viewers: readonly RemoteViewer[] }[] = [];
  for (let at = 0; at < sessionCount; at += 1) {
    const record = await store.create({ sessionId: `s${seed}-${at}` });
    const viewers = (["cursor", "reload"] as const).map((returns) =>
      stack.use(new RemoteViewer({ session: record.sessionId, addresses, returns })),
    );
    watched.push({ record, viewers });
  }
  const screens = new Map(
    watched.flatMap(({ record, viewers }) => viewers.slice(0, 1).map((v) => [record.sessionId, v])),
  );
  const people = new People({ addresses, random: new Random(seed + 1), screens });
  const [working, approving] = [new AbortController(), new AbortController()];
  const approvals = people.approve(approving.signal);
  const work = people.work(working.signal);
  const viewers = watched.flatMap((one) => one.viewers);
  const happened = await inject(deployment, random, viewers, options.faultMs);
  working.abort();
  await work;

  const recoveries = await awaitRecovery({ store, people, watched });
  approving.abort();
  await Promise.all([approvals, people.settled()]);
  const sessions = await Promise.all(
    watched.map(async ({ record, viewers: own }): Promise<SessionHistory> => {
      const { uid, sessionId } = record;
      return {
        uid,
        sessionId,
        facts: await store.read(uid),
        sent: people.sent.filter(({ session }) => session === sessionId),
        effects: deployment.effects().filter(({ effectKey }) => effectKey.startsWith(uid)),
        viewers: own.map(({ state, checks }) => ({ state, faults: checks.faults })),
        verified: (await store.verify(sessionId)).ok,
      };
    }),
  );
  const { temporal } = deployment;
  const left = sessions.filter((_, at) => recoveries[at]?.restMs === undefined);
  const workflows = temporal
    ? await Promise.all(left.map(({ uid }) => workflowEvents(temporal.url, uid)))
    : [];
  const strays = deployment.strays.map((what) => ({ kind: "stray error", what }));
  return {
    seed,
    faults: happened,
    recoveries,
    sessions,
    workflows,
    violations: [...sessions.flatMap(judge), ...strays],
    connections: viewers.reduce((sum, viewer) => sum + viewer.connections, 0),
  };
}

/** Lets faults happen, at most three at once, and cuts viewers off between. Resolves when all are over. */
async function inject(
  deployment: Deployment,
  random: Random,
  viewers: readonly RemoteViewer[],
  faultMs: number,
): Promise<readonly string[]> {
  const happened: string[] = [];
  const current = new Set<string>();
  const all: Promise<void>[] = [];
  const kinds = { ...faults, ...(deployment.temporal && temporalFaults) };
  const start = performance.now();
  while (performance.now() - start < faultMs) {
    await sleep(150 + random.next() * 900);
    random.pick(viewers).cut();
    const name = random.pick(Object.keys(kinds));
    const fault = kinds[name];
    const isHindered = [...current].some((one) => hinders(one, name) || one === name);
    if (fault === undefined || isHindered || current.size > 2) continue;
    happened.push(`${Math.round(performance.now() - start)} ms ${name}`);
    current.add(name);
    const over = fault(deployment, random).finally(() => current.delete(name));
    over.catch(() => undefined); // awaited at the end
    all.push(over);
  }
  await Promise.all(all);
  return happened;
}
