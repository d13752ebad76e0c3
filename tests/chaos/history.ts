import { setTimeout as sleep } from "node:timers/promises";
import { blobsInFact } from "@millrace/core/blobs";
import type { SessionRecord } from "@millrace/core/ports";
import type { NodePrograms } from "../kit/deployment/bundle.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import type { Drives } from "../kit/deployment/deployment.ts";
import { openOutageProxy } from "../kit/deployment/outage-proxy.ts";
import type { ProcessStats } from "../kit/deployment/process-stats.ts";
import { Crowd } from "./crowd.ts";
import { drawFaults, inject, repeatFaults } from "./fault-plan.ts";
import type { FaultRow, Pace } from "./fault-plan.ts";
import { faults } from "./faults.ts";
import { judgeCallers, judgeFiles } from "./judge-callers.ts";
import type { ReadFile } from "./judge-callers.ts";
import { judgePages } from "./judge-pages.ts";
import { judge } from "./oracle.ts";
import type { SessionHistory, Violation } from "./oracle.ts";
import { awaitRecovery } from "./recovery.ts";
import type { Recovery } from "./recovery.ts";
import { judgeLeft } from "./resources.ts";
import { Random } from "../kit/random.ts";
import { temporalFaults } from "./temporal-faults.ts";
import { workflowEvents } from "./workflow-events.ts";

export interface HistoryOptions extends Pace {
  readonly seed: number;
  readonly programs: NodePrograms;
  readonly drives: Drives;
  readonly sessions: number;
  readonly pages: number;
  /** The pause of a person between two things: at least, and at most. */
  readonly peoplePauseMs: readonly [number, number];
  /** How long after the last fault everything has to be at rest. */
  readonly restMs: number;
  /** The first process of each sort is not ended, and is asked for what it holds each so many milliseconds. */
  readonly sampleMs?: number | undefined;
  /** The faults of a history that was kept: they happen again. */
  readonly rows?: readonly FaultRow[] | undefined;
}

/** What a process held at a time. */
export interface Sample {
  readonly name: string;
  readonly stats: ProcessStats;
}

/** What became of a history. */
export interface HistoryResult {
  readonly seed: number;
  readonly drives: Drives;
  /** The faults in order. */
  readonly faults: readonly FaultRow[];
  readonly violations: readonly Violation[];
  /** Of each session, after the last fault was over. */
  readonly recoveries: readonly Recovery[];
  readonly sessions: readonly SessionHistory[];
  /** Of raw viewers. */
  readonly connections: number;
  /** Of libraries of other vendors. */
  readonly answers: number;
  /** Of the processes that were not ended, in order of time. */
  readonly samples: readonly Sample[];
  /** Of sessions that have not come to rest, if Temporal drives. */
  readonly workflows: readonly (readonly string[])[];
}

/** Runs a deployment under faults by the seed, waits until it rests, and judges all that it left. */
export async function runHistory(options: HistoryOptions): Promise<HistoryResult> {
  const { seed, programs, drives, restMs, sampleMs, peoplePauseMs: pauseMs } = options;
  await using deployment = await Deployment.start({
    programs,
    drives,
    workers: drives === "inline" ? 0 : 3,
    webs: 2,
    agent: { chunkMs: 8 },
    clocks: [0, 0, 0, 0, 0],
  });
  const { store, addresses } = deployment;
  const before = await Promise.all(deployment.nodes.map(({ process }) => process.stats()));
  await using proxies = new AsyncDisposableStack();
  const edges = await Promise.all(addresses.map((url) => openOutageProxy(url)));
  let turn = 0;
  const front = await openOutageProxy(() => addresses[(turn += 1) % addresses.length] ?? "");
  for (const proxy of [...edges, front]) proxies.use(proxy);

  const { sessions: count, pages } = options;
  const size = { sessions: count, pages, pauseMs };
  using crowd = await Crowd.gather({ seed, store, edges, front, ...size });
  const kinds = { ...faults, ...(deployment.temporal && temporalFaults) };
  const next =
    options.rows === undefined
      ? drawFaults(Object.keys(kinds), seed, options)
      : repeatFaults(options.rows);
  const random = new Random(seed);
  const sampling = new AbortController();
  const sampled = takeSamples(deployment, sampleMs, sampling.signal);
  const place = { deployment, edges: [...edges, front], firstLives: sampleMs !== undefined };
  // The last faults end a few seconds later: what waits then is little.
  const resting = sleep(options.faultMs).then(() => crowd.rest());
  const happened = await inject(kinds, next, place, () => random.pick(crowd.viewers).cut());
  sampling.abort();
  for (const { clock } of deployment.nodes) clock?.set(0);

  await resting;
  const healedAt = performance.now();
  const { people, watched } = crowd;
  const recoveries = await awaitRecovery({ store, people, watched, limitMs: restMs });
  await crowd.settle(Math.max(1_000, restMs - (performance.now() - healedAt)));
  await people.settled();
  const sessions = await Promise.all(
    watched.map(({ record, viewers }) => historyOf(deployment, crowd, record, viewers)),
  );
  const more = await store.list();
  const others = await Promise.all(
    more
      .filter(({ uid }) => !sessions.some((session) => session.uid === uid))
      .map((record) => historyOf(deployment, crowd, record, [])),
  );
  const violations = [
    ...[...sessions, ...others].flatMap(judge),
    ...sessions.flatMap((session) => judgeShown(crowd, session)),
    ...judgeFiles(await readFiles(crowd, sessions)),
    ...judgeCallers({
      sent: crowd.people.sent,
      open: crowd.pages.given.open(),
      readings: crowd.readings,
    }),
    ...crowd.pages.faults.map((what) => ({ kind: "page went back", what })),
    ...deployment.strays.map((what) => ({ kind: "stray error", what })),
  ];
  const connections = crowd.viewers.reduce((sum, viewer) => sum + viewer.connections, 0);
  crowd[Symbol.dispose]();
  violations.push(...(await judgeLeft(deployment, [...edges, front], before)));

  const { temporal } = deployment;
  const left = sessions.filter((_, at) => recoveries[at]?.restMs === undefined);
  const workflows = temporal
    ? await Promise.all(left.map(({ uid }) => workflowEvents(temporal.url, uid)))
    : [];
  const answers = crowd.readings.reduce((sum, reading) => sum + reading.answers, 0);
  const samples = await sampled;
  const judged = { recoveries, sessions, workflows, violations, samples };
  return { seed, drives, faults: happened, ...judged, connections, answers };
}

/** Asks the first process of each sort what it holds, until the signal is aborted. */
async function takeSamples(
  { workers, webs }: Deployment,
  everyMs: number | undefined,
  signal: AbortSignal,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  if (everyMs === undefined) return samples;
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
    for (const { name, process } of [...workers.slice(0, 1), ...webs.slice(0, 1)]) {
      const stats = await process.stats();
      if (stats !== undefined) samples.push({ name, stats });
    }
  }
  return samples;
}

async function historyOf(
  deployment: Deployment,
  { people, pages }: Crowd,
  { uid, sessionId }: SessionRecord,
  viewers: Crowd["viewers"],
): Promise<SessionHistory> {
  const { store } = deployment;
  return {
    uid,
    sessionId,
    facts: await store.read(uid),
    sent: [...people.sent, ...pages.sent].filter(({ session }) => session === sessionId),
    effects: deployment.effects().filter(({ effectKey }) => effectKey.startsWith(uid)),
    viewers: viewers.map(({ state, checks }) => ({ state, faults: checks.faults })),
    verified: (await store.verify(sessionId)).ok,
  };
}

function judgeShown({ pages }: Crowd, { sessionId, facts }: SessionHistory): readonly Violation[] {
  return judgePages({
    facts,
    pages: pages.shown().filter(({ id }) => id === sessionId),
    results: pages.results.filter(({ session }) => session === sessionId),
  });
}

/** The files that sessions name, as a page reads them. */
async function readFiles(
  { pages }: Crowd,
  sessions: readonly SessionHistory[],
): Promise<readonly ReadFile[]> {
  const files: ReadFile[] = [];
  for (const { sessionId, facts } of sessions)
    for (const hash of new Set(facts.flatMap((fact) => blobsInFact(fact)))) {
      const reading = pages.readFile(sessionId, hash).catch(String);
      const text = await Promise.race([reading, sleep(10_000, "no answer within 10 s")]);
      files.push({ name: `${hash} of ${sessionId}`, text });
    }
  return files;
}
