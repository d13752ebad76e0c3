/** Sessions that processes without Temporal drive, and Temporal, in turn. */
import type { FactOf } from "@millrace/core/writing";
import { unpackEpoch } from "@millrace/core/ports";
import { redisLog } from "@millrace/stores/redis";
import { expect, it } from "vitest";
import { bundleNodes } from "../kit/deployment/bundle.ts";
import { bundleTemporalNodes } from "../kit/deployment/bundle-temporal.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { NodeProcess } from "../kit/deployment/node-process.ts";
import { modelOf, pacedAgent } from "../kit/deployment/paced-agent.ts";
import { until } from "../kit/until.ts";
import { connectClient } from "./kit/connect-client.ts";
import { PromptedSession } from "./kit/prompted-session.ts";

const agent = { chunkMs: 30 };

it(
  "a run whose process was killed goes on under Temporal, and the next one goes on in a process",
  { timeout: 300_000 },
  async () => {
    await using programs = await bundleTemporalNodes();
    await using inlinePrograms = await bundleNodes();
    await using deployment = await Deployment.start({
      programs,
      drives: "temporal",
      workers: 1,
      webs: 1,
      agent,
    });
    const { store, effectsFile: effects, redis, postgres } = deployment;
    const urls = { redis: redis.url, postgres: postgres.url };
    await using pool = new NodeProcess({
      program: inlinePrograms.worker,
      config: { ...urls, name: "pool", drives: "pool", effects, ...agent },
      onStray: (error) => deployment.strays.push(error),
    });
    await pool.start();
    using session = await PromptedSession.create(deployment, "moved");
    const { uid, sessionId } = session.record;
    const isWriting = (name: string): boolean =>
      session.shownModel === modelOf(name) && session.shownText > 20;

    // On a busy machine the web node's sweep could be faster than a process: it wakes a workflow for a prompt
    // that nobody has taken.
    const reachTemporal = (can: boolean): void => deployment.webs[0]?.temporal?.refuse(!can);
    reachTemporal(false);
    // In a process of a pool, which is killed while it writes the reply after its call.
    await session.store("effect", 300);
    await until(
      () => deployment.effects().length === 1 && isWriting("pool"),
      "the pool writes the reply after the call",
    );
    await pool.kill();
    const half = await session.facts();
    // The next prompt wakes a workflow.
    reachTemporal(true);
    await session.prompt("plain", 100);
    await session.ended();
    expect(half.at(-1)?.type).not.toBe("run_finished");
    expect(await modelsOf(session)).toEqual(["pool", "worker-0", "worker-0"]);
    expect(await claimsOf(session)).toMatchObject([
      { incarnation: 1 },
      { incarnation: 2, resumes: `run_${sessionId}-0` },
    ]);

    // Its workflow has ended, and a process takes the next prompt.
    reachTemporal(false);
    await using client = await connectClient(deployment.temporal?.url);
    await client.workflow.getHandle(`session:${uid}`).result();
    await using log = redisLog({ url: redis.url });
    const here = pacedAgent({ name: "here", effects, ...agent });
    {
      await using _ = await here.open({ id: sessionId, store, log });
      await session.store("effect", 100);
      await session.ended();
    }
    expect((await modelsOf(session)).slice(3)).toEqual(["here", "here"]);
    expect(await claimsOf(session)).toHaveLength(3);
    reachTemporal(true);

    // While a workflow has the run, a process that would drive the session leaves it alone.
    await session.prompt("many", 400);
    await until(() => isWriting("worker-0"), "a worker of Temporal writes");
    {
      await using _ = await here.open({ id: sessionId, store, log });
      await session.ended();
      expect((await modelsOf(session)).slice(5)).toEqual(["worker-0", "worker-0"]);
      expect(await claimsOf(session)).toHaveLength(4);
      // It takes the prompt that no workflow was woken for.
      reachTemporal(false);
      await session.store("plain", 50);
      await session.ended();
    }
    expect((await modelsOf(session)).slice(7)).toEqual(["here"]);
    const claims = await claimsOf(session);
    expect(claims.map(({ incarnation }) => incarnation)).toEqual([1, 2, 3, 4, 5]);
    expect(await session.judge()).toEqual([]);
    expect(deployment.effects().map(({ tool, node }) => `${tool} by ${node}`)).toEqual([
      "pay by pool",
      "pay by here",
      ...["pay", "pay", "again"].map(() => expect.stringMatching("by worker-0") as string),
    ]);
    expect(deployment.strays).toEqual([]);
  },
);

/** The nodes that wrote the replies, in their order. */
async function modelsOf(session: PromptedSession): Promise<readonly string[]> {
  return (await session.facts()).flatMap((fact) =>
    fact.type === "item_committed" && fact.item.author === "model"
      ? [fact.item.model?.replace(modelOf(""), "") ?? ""]
      : [],
  );
}

/** The claims, and that each item was written under the one before it. */
async function claimsOf(session: PromptedSession): Promise<readonly FactOf<"session_claimed">[]> {
  const claims: FactOf<"session_claimed">[] = [];
  for (const fact of await session.facts()) {
    if (fact.type === "session_claimed") claims.push(fact);
    if (fact.type !== "item_committed" || fact.epoch === undefined) continue;
    expect(unpackEpoch(fact.epoch).incarnation).toBe(claims.at(-1)?.incarnation);
  }
  return claims;
}
