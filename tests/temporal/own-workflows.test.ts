/** Workflows of an application with the functions of `@millrace/temporal/workflow`. */
import { WorkflowFailedError } from "@temporalio/client";
import { defineAgent, defineTool } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Fact } from "@millrace/core";
import { unpackEpoch } from "@millrace/core/ports";
import { sessionId } from "@millrace/core/writing";
import { call, say, scriptedModel } from "@millrace/core/testing";
import { temporalDriver } from "@millrace/temporal/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { bundleTemporalNodes } from "../kit/deployment/bundle-temporal.ts";
import { Deployment } from "../kit/deployment/deployment.ts";
import { until } from "../kit/until.ts";
import { bundleWorkflow } from "../workflow/bundle.ts";
import { type Cluster, type Servers, connectTo, startServers } from "./cluster.ts";
import { PromptedSession } from "./kit/prompted-session.ts";
import type { openTwiceWorkflow, parentWorkflow, twoSessionsWorkflow } from "./own-workflows.ts";
import { storedRuns, summaryOf } from "./stored-history.ts";

const ownWorkflows = "tests/temporal/own-workflows.ts";
const taskQueue = "own";
const limits = { timeout: 120_000 };

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
let servers: Servers;
let cluster: Cluster;
/** The sessions in which a tool ran. */
const ran: string[] = [];

beforeAll(async () => {
  servers = started.use(await startServers());
  cluster = started.use(await connectTo(servers));
  const { code } = await bundleWorkflow(ownWorkflows);
  const workflows = { code, sourceMap: "{}" };
  await cluster.work({ agent: (session) => agentOf(session.sessionId), taskQueue, workflows });
}, 300_000);

test("a driver starts the workflow of its option for each session with work", limits, async () => {
  const { client, store } = cluster;
  const workflowType = "supportWorkflow";
  await using driver = temporalDriver({ client, store, taskQueue, workflowType });
  const talk = await cluster.talk("support");
  await talk.inbox.send("hello");
  const { uid } = talk;

  driver.wake({ uid, sessionId: sessionId("support"), head: (await talk.facts()).length });
  await until(async () => (await talk.facts()).at(-1)?.type === "run_finished", "the run ends");

  expect(await talk.handle.result()).toBe(2);
  expect((await talk.handle.describe()).type).toBe(workflowType);
  expectWhole("support", await talk.facts());
});

test(
  "two sessions in one workflow go on side by side, and each hears its signals",
  limits,
  async () => {
    const talks = await Promise.all(["left", "right"].map((name) => cluster.talk(name)));
    const args = await Promise.all([argsOf("left"), argsOf("right")] as const);
    const handle = await cluster.client.workflow.start<typeof twoSessionsWorkflow>(
      "twoSessionsWorkflow",
      { workflowId: "two-sessions", taskQueue, args },
    );
    const summaries = (): Promise<readonly unknown[]> =>
      Promise.all(["left", "right"].map((name) => handle.query("session", name)));
    await until(async () => {
      const [left, right] = await summaries().catch(() => []);
      return left !== undefined && right !== undefined;
    }, "both are open");
    const { client, store } = cluster;
    await using driver = temporalDriver({
      client,
      store,
      taskQueue,
      workflowId: () => "two-sessions",
    });
    for (const [at, { uid, inbox, facts }] of talks.entries()) {
      await inbox.send("hello");
      const head = (await facts()).length;
      driver.wake({ uid, sessionId: sessionId(at === 0 ? "left" : "right"), head });
    }

    expect(await handle.result()).toEqual([
      ["tools", "end"],
      ["tools", "end"],
    ]);

    expectWhole("left", (await talks[0]?.facts()) ?? []);
    expectWhole("right", (await talks[1]?.facts()) ?? []);
    const [run] = await storedRuns(cluster.client, "two-sessions");
    const steps = run?.events.flatMap((event) => {
      const { activityId } = event.activityTaskScheduledEventAttributes ?? {};
      return activityId ? [`${activityId}: ${summaryOf(event)}`] : [];
    });
    expect(steps?.toSorted()).toEqual([
      "2-reply-1-1: right, turn 1: reply",
      "2-reply-2-3: right, turn 2: reply",
      "2-tools-1.1-2: right, turn 1: look",
      "reply-1-1: turn 1: reply",
      "reply-2-3: turn 2: reply",
      "tools-1.1-2: turn 1: look",
    ]);
  },
);

test("a workflow lets another session run in a workflow of its own", limits, async () => {
  const names = ["parent", "child"] as const;
  const [parent, child] = await Promise.all(names.map((name) => cluster.talk(name)));
  const args = await Promise.all([argsOf("parent"), argsOf("child")] as const);
  await parent?.inbox.send("hello");
  await child?.inbox.send("hello");

  const replies = await cluster.client.workflow.execute<typeof parentWorkflow>("parentWorkflow", {
    workflowId: "parent",
    taskQueue,
    args,
  });

  expect(replies).toEqual([["tools", "end"]]);
  expectWhole("parent", (await parent?.facts()) ?? []);
  expectWhole("child", (await child?.facts()) ?? []);
  const described = await child?.handle.describe();
  expect([described?.type, described?.status.name]).toEqual(["agentWorkflow", "COMPLETED"]);
});

test("a session is opened once in a workflow", limits, async () => {
  await cluster.talk("twice");
  const running = cluster.client.workflow.execute<typeof openTwiceWorkflow>("openTwiceWorkflow", {
    workflowId: "twice",
    taskQueue,
    args: [await argsOf("twice")],
  });

  const failure: unknown = await running.catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect((failure as WorkflowFailedError).cause?.message).toBe(
    "session twice is open in this workflow: use what openSession returned",
  );
});

test("a reply in a workflow of one's own goes on when its worker is killed", limits, async () => {
  await using programs = await bundleTemporalNodes({ workflows: ownWorkflows });
  await using deployment = await Deployment.start({
    programs,
    drives: "temporal",
    temporal: servers.temporal,
    workers: 2,
    webs: 1,
    agent: { chunkMs: 30 },
  });
  using session = await PromptedSession.create(deployment, "killed");
  const { uid } = session.record;
  await session.store("effect", 300);
  const handle = await cluster.client.workflow.start("supportWorkflow", {
    workflowId: `session:${uid}`,
    taskQueue: deployment.taskQueue,
    args: [{ uid, sessionId: session.record.sessionId }],
  });
  await until(
    () => deployment.effects().length === 1 && session.shownText > 20,
    "the reply after the call streams",
  );

  const writer = session.writer;
  await writer?.process.kill();
  await session.ended();

  expect(writer).toBeDefined();
  expect(await handle.result()).toBe(2);
  const facts = await session.facts();
  const epochs = facts.flatMap((fact) =>
    fact.type === "item_committed" && fact.item.author === "model" ? [fact.epoch ?? 0] : [],
  );
  expect(epochs.map((epoch) => unpackEpoch(epoch).attempt)).toEqual([1, 2]);
  expect(facts.filter(({ type }) => type === "session_claimed")).toHaveLength(1);
  expect(await session.judge()).toEqual([]);
  expect(deployment.strays).toEqual([]);
});

/** One run with one call: claimed once, each item once, and the tool ran once. */
function expectWhole(name: string, facts: readonly Fact[]): void {
  expect(facts.filter(({ type }) => type === "session_claimed")).toHaveLength(1);
  expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
  const authors = facts.flatMap((fact) =>
    fact.type === "item_committed" ? [fact.item.author] : [],
  );
  expect(authors).toEqual(["user", "model", "tool", "model"]);
  expect(ran.filter((one) => one === name)).toHaveLength(1);
}

async function argsOf(name: string) {
  const { uid } = await cluster.talk(name);
  return { uid, sessionId: name };
}

function agentOf(name: string): Agent {
  const look = defineTool({
    name: "look",
    input: z.object({}),
    effect: "effectful",
    run: () => void ran.push(name),
  });
  return defineAgent({ model: scriptedModel([[call("look", {})], [say("seen")]]), tools: [look] });
}
