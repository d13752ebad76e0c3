import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { bundleTemporalNodes } from "../kit/deployment/bundle-temporal.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { modes } from "../kit/deployment/directive.ts";
import { distribution } from "../kit/distribution.ts";
import { until } from "../kit/until.ts";
import { PromptedSession } from "./kit/prompted-session.ts";

const runCount = 50;
/** Without those that wait for a person. */
const sorts = modes.filter((mode) => mode !== "ask");

it(
  "runs that are on when Temporal's server is killed all end after its restart, with nothing lost or doubled",
  { timeout: 600_000 },
  async () => {
    await using programs = await bundleTemporalNodes();
    await using deployment = await Deployment.start({
      programs,
      drives: "temporal",
      workers: 2,
      webs: 1,
      agent: { chunkMs: 30 },
    });
    const { temporal } = deployment;
    using stack = new DisposableStack();
    const sessions = await Promise.all(
      Array.from({ length: runCount }, async (_, at) =>
        stack.use(await PromptedSession.create(deployment, `run-${at}`)),
      ),
    );
    await Promise.all(
      sessions.map((session, at) => session.prompt(sorts[at % sorts.length] ?? "plain", 400)),
    );
    const areOn = async (): Promise<boolean> => {
      const all = await Promise.all(sessions.map((session) => session.facts()));
      return all.every((facts) => facts.some(({ type }) => type === "turn_started"));
    };
    await until(areOn, "all runs are on", { everyMs: 100 });

    await temporal?.kill();
    const before = await Promise.all(sessions.map((session) => session.facts()));
    const left = before.filter((facts) => facts.at(-1)?.type !== "run_finished").length;
    await sleep(1_000);
    await temporal?.restart();
    const restarted = performance.now();
    const times = await Promise.all(
      sessions.map(async (session) => {
        await session.ended(120_000);
        return performance.now() - restarted;
      }),
    );

    console.log(
      `count: Temporal's server killed in the middle of runs, ${left} of ${runCount} runs on, 0 left; until a run has ended after the restart: ${distribution(times)}`,
    );
    const violations = await Promise.all(sessions.map((session) => session.judge()));
    expect(violations.flat()).toEqual([]);
    expect(left).toBeGreaterThan(runCount / 2);
    expect(deployment.strays).toEqual([]);
  },
);
