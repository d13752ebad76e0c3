/** Two versions of a worker at once, as in a deploy. */
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import { call, say, scriptedModel } from "@millrace/core/testing";
import type { TemporalWorker } from "@millrace/temporal/worker";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { until } from "../kit/until.ts";
import { type Cluster, connectTo, startServers } from "./cluster.ts";

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
let cluster: Cluster;

beforeAll(async () => {
  cluster = started.use(await connectTo(started.use(await startServers())));
}, 300_000);

test(
  "a run that began with one version of the workers ends with it, and the next run begins with the new one",
  { timeout: 120_000 },
  async () => {
    const held = Promise.withResolvers<void>();
    await work("1", agentOf("one", held.promise));
    await work("2", agentOf("two", held.promise));
    const talk = await cluster.talk("two-versions");
    await makeCurrent("1");
    await talk.send("a question");
    await talk.fact("tool_execution_started");

    await makeCurrent("2");
    held.resolve();
    await talk.handle.result();
    await talk.send("another question");
    await until(async () => (await texts()).length === 2, "both are answered");

    expect(await texts()).toEqual(["version one", "version two"]);

    async function texts(): Promise<readonly string[]> {
      return (await talk.facts()).flatMap((fact) =>
        fact.type === "item_committed" && fact.item.author === "model"
          ? fact.item.parts.flatMap((part) => (part.kind === "text" ? [part.text] : []))
          : [],
      );
    }
  },
);

const deploymentName = "agents";

async function work(buildId: string, agent: Agent): Promise<TemporalWorker> {
  // #region version
  const sdk = {
    workerDeploymentOptions: {
      version: { deploymentName, buildId }, // "agents" and, for example, the commit
      useWorkerVersioning: true,
      defaultVersioningBehavior: "PINNED",
    },
  } as const;
  // #endregion
  return await cluster.work({ agent, sdk });
}

/** Workers make themselves known to Temporal when they first ask for work. */
async function makeCurrent(buildId: string): Promise<void> {
  const { client } = cluster;
  const request = { namespace: "default", deploymentName, buildId };
  const isDone = async (): Promise<boolean> =>
    await client.workflowService.setWorkerDeploymentCurrentVersion(request).then(
      () => true,
      () => false,
    );
  await until(isDone, `version ${buildId} is current`, { limitMs: 60_000, everyMs: 200 });
}

/** Says its name, after a call that ends when it is let go. */
function agentOf(name: string, letGo: Promise<void>): Agent {
  const wait = defineTool({
    name: "wait",
    description: "Waits",
    input: z.object({}),
    effect: "pure",
    run: async () => {
      await letGo;
      return "done";
    },
  });
  const model = scriptedModel([[call("wait", {})], [say(`version ${name}`)]]);
  return defineAgent({ model, tools: [wait] });
}
