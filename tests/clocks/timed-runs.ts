import { setTimeout as sleep } from "node:timers/promises";
import type { Fact, SessionUid } from "@millrace/core";
import { post } from "../kit/deployment/command.ts";
import type { Command } from "../kit/deployment/command.ts";
import type { Deployment } from "../kit/deployment/deployment.ts";
import { textOfDirective } from "../kit/deployment/directive.ts";
import { isRunOver } from "../kit/deployment/is-run-over.ts";
import { until } from "../kit/until.ts";

/** Runs that time ends, or could end: a short reply, an endless one, a question with and without an answer. */
const sorts = ["short", "endless", "unanswered", "answered"] as const;
type Sort = (typeof sorts)[number];

export interface TimedRunsOptions {
  readonly deployment: Deployment;
  readonly runCount: number;
  /** The limit of a run. A question has half of it. */
  readonly seconds: number;
  /** The worker that is not killed, and takes over the runs of all others. */
  readonly survivor: number;
}

/** How one run went, by what the store has. */
export interface TimedRun {
  readonly sort: Sort;
  /** The run's outcome, and the status of its call if it has one. */
  readonly outcome: string;
  /** From its start to its end, or from its question to the end of that, in milliseconds. */
  readonly ms: number;
  /** From the kill of its driver until another driver claimed it. Undefined: its driver lived. */
  readonly takeoverMs: number | undefined;
}

interface Begun {
  readonly sort: Sort;
  readonly session: string;
  readonly uid: SessionUid;
}

/** Begins runs of all sorts, kills all workers but one in the middle of them, and waits until all have ended. */
export async function passTimedRuns(options: TimedRunsOptions): Promise<readonly TimedRun[]> {
  const { deployment, runCount, seconds, survivor } = options;
  const { store, workers } = deployment;
  const runs = await Promise.all(
    Array.from({ length: runCount }, (_, at) => begin(deployment, at, seconds)),
  );
  await until(
    async () => (await Promise.all(runs.map(({ uid }) => isBegun(deployment, uid)))).every(Boolean),
    "all runs have begun",
    { everyMs: 100 },
  );
  await sleep(1_000);
  const claims = await Promise.all(runs.map(async ({ uid }) => claimsOf(await store.read(uid))));
  const killedAt = performance.now();
  const killed = workers.filter((_, at) => at !== survivor);
  await Promise.all(killed.map(({ process }) => process.kill()));
  const takeovers = runs.map(({ uid }, at) =>
    firstClaimAfter(deployment, uid, claims[at] ?? 0, killedAt + seconds * 2_000),
  );
  for (const takeover of takeovers) takeover.catch(() => undefined); // awaited below
  await Promise.all(runs.map((run) => answer(deployment, run)));
  await Promise.all(
    runs.map(({ uid, session }) =>
      until(async () => isRunOver(await store.read(uid)), `the run of ${session} ends`, {
        limitMs: seconds * 2_000 + 30_000,
        everyMs: 100,
      }),
    ),
  );
  return await Promise.all(
    runs.map(async ({ sort, uid }, at) => {
      const takenOverAt = await takeovers[at];
      const takeoverMs = takenOverAt === undefined ? undefined : takenOverAt - killedAt;
      return { ...describe(sort, await store.read(uid)), takeoverMs };
    }),
  );
}

async function begin(deployment: Deployment, at: number, seconds: number): Promise<Begun> {
  const sort = sorts[at % sorts.length] ?? "short";
  const session = `${sort}-${at}`;
  const { uid } = await deployment.store.create({ sessionId: session });
  const mode = sort === "short" || sort === "endless" ? "plain" : "ask";
  const length = sort === "endless" ? seconds * 400 : mode === "plain" ? 300 : 40;
  const text = textOfDirective({ key: session, mode, length });
  await command(deployment, session, { call: "send", key: session, text });
  return { sort, session, uid };
}

/** The answer to a question is sent when its driver may be dead. */
async function answer(deployment: Deployment, { sort, session, uid }: Begun): Promise<void> {
  if (sort !== "answered") return;
  const facts = await deployment.store.read(uid);
  const asked = facts.find((fact) => fact.type === "approval_requested");
  const target = asked?.approvalId;
  await command(deployment, session, { call: "allow", key: `${session}-yes`, target });
}

async function command(deployment: Deployment, session: string, sent: Command): Promise<void> {
  const { addresses } = deployment;
  const answered = await post(sent, { session, addresses, patienceMs: 20_000 });
  if (answered?.accepted !== true)
    throw new Error(`${sent.call} to ${session}: ${JSON.stringify(answered)}`);
}

/** Whether the run is on, and its question asked if it has one. */
async function isBegun({ store }: Deployment, uid: SessionUid): Promise<boolean> {
  const facts = await store.read(uid);
  const asks = facts.some(
    (fact) => fact.type === "input_accepted" && JSON.stringify(fact.input).includes("mode=ask"),
  );
  return facts.some(({ type }) => type === (asks ? "approval_requested" : "turn_started"));
}

function claimsOf(facts: readonly Fact[]): number {
  return facts.filter(({ type }) => type === "session_claimed").length;
}

/** When there were more claims than before, or undefined if the run ended without one. */
async function firstClaimAfter(
  { store }: Deployment,
  uid: SessionUid,
  before: number,
  end: number,
): Promise<number | undefined> {
  while (performance.now() < end) {
    const facts = await store.read(uid);
    if (claimsOf(facts) > before) return performance.now();
    if (isRunOver(facts)) return undefined;
    await sleep(50);
  }
  return undefined;
}

function describe(sort: Sort, facts: readonly Fact[]): Omit<TimedRun, "takeoverMs"> {
  const started = facts.find((fact) => fact.type === "run_started");
  const ended = facts.findLast((fact) => fact.type === "run_finished");
  const asked = facts.find((fact) => fact.type === "approval_requested");
  const results = facts.flatMap((fact) =>
    fact.type === "item_committed"
      ? fact.item.parts.flatMap((part) =>
          part.kind === "tool_result" ? [{ status: part.status, time: fact.time }] : [],
        )
      : [],
  );
  const [result] = results;
  const outcome = [ended?.outcome, ...results.map(({ status }) => status)].join(" ");
  const from = (sort === "unanswered" ? asked : started)?.time ?? 0;
  const to = (sort === "unanswered" ? result : ended)?.time ?? 0;
  return { sort, outcome, ms: to - from };
}
