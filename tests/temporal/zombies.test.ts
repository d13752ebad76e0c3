import { setTimeout as sleep } from "node:timers/promises";
import { unpackEpoch } from "@millrace/core/ports";
import { expect, it } from "vitest";
import { bundleTemporalNodes } from "../kit/deployment/bundle-temporal.ts";
import type { DeployedNode } from "../kit/deployment/deployment.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { modes } from "../kit/deployment/directive.ts";
import { Random } from "../kit/random.ts";
import { firstSeed as seed, runs } from "../kit/runs.ts";
import { until } from "../kit/until.ts";
import { PromptedSession } from "./kit/prompted-session.ts";

const stopCount = Number(process.env["STOPS"] ?? runs(20, 200, 10));
const sessionCount = 6;
/** Stopped at once. Of three workers one goes on. */
const mostStopped = 2;
const heartbeatMs = 2_000;
const testMs = 600_000 * Math.max(1, stopCount / 20);
/** Without those that wait for a person. */
const sorts = modes.filter((mode) => mode !== "ask");

it(
  "nothing of a worker that was thought dead and goes on is visible, no effect happens twice, and all runs end",
  { timeout: testMs },
  async () => {
    console.log(`SEED=${seed}`); // printed before it may fail
    const random = new Random(seed);
    await using programs = await bundleTemporalNodes();
    await using deployment = await Deployment.start({
      programs,
      drives: "temporal",
      workers: 3,
      webs: 1,
      agent: { chunkMs: 15 },
      heartbeatMs,
    });
    using stack = new DisposableStack();
    const sessions = await Promise.all(
      Array.from({ length: sessionCount }, async (_, at) =>
        stack.use(await PromptedSession.create(deployment, `s-${at}`)),
      ),
    );
    const over = new AbortController();
    let working = sessionCount;
    const work = async (session: PromptedSession): Promise<void> => {
      while (!over.signal.aborted) {
        await session.prompt(random.pick(sorts), 100 + random.below(300));
        // While workers are stopped all the time, a run may be unlucky for long.
        await session.ended(testMs);
      }
      working -= 1;
    };
    const worked = Promise.all(sessions.map(work));
    worked.catch(() => undefined); // awaited at the end
    const stopped = new Set<DeployedNode>();
    let left = stopCount;
    const stopWorkers = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        const worker = await pickWriter(sessions, stopped, random);
        stopped.add(worker);
        worker.process.stop();
        // Some come back just before they are given up, most after it.
        await sleep(heartbeatMs * (0.9 + random.next()));
        worker.process.cont();
        stopped.delete(worker);
      }
    };
    await Promise.all(Array.from({ length: mostStopped }, stopWorkers));
    over.abort();
    await until(() => working === 0, "all runs end once no worker is stopped any more");
    await worked;

    const facts = (await Promise.all(sessions.map((session) => session.facts()))).flat();
    const repeated = facts.filter(
      (fact) => fact.type === "item_committed" && unpackEpoch(fact.epoch ?? 0).attempt > 1,
    );
    const ended = facts.filter(({ type }) => type === "run_finished");
    console.log(
      `count: workers of Temporal stopped beyond their heartbeat (seed ${seed}), ${stopCount} stops, ${ended.length} runs, ${repeated.length} items by a later attempt, 0 violations`,
    );
    const violations = await Promise.all(sessions.map((session) => session.judge()));
    expect(violations.flat()).toEqual([]);
    expect(repeated.length).toBeGreaterThan(stopCount / 4);
    expect(deployment.strays).toEqual([]);
  },
);

/** A worker that writes a reply at a random moment of it, and is not stopped. */
async function pickWriter(
  sessions: readonly PromptedSession[],
  stopped: ReadonlySet<DeployedNode>,
  random: Random,
): Promise<DeployedNode> {
  await sleep(random.next() * 500);
  let writer: DeployedNode | undefined;
  const isFound = (): boolean => {
    const { writer: found } = random.pick(sessions);
    writer = found === undefined || stopped.has(found) ? undefined : found;
    return writer !== undefined;
  };
  await until(isFound, "a worker writes a reply");
  return writer ?? fail();
}

function fail(): never {
  throw new Error("no worker");
}
