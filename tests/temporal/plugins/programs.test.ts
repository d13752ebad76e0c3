/** Workflows that ask models by activities of their own, and have a session by their memo alone. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { ApplicationFailure, WorkflowFailedError } from "@temporalio/client";
import type { WorkflowHandle } from "@temporalio/client";
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from "@temporalio/worker";
import type { Fact, Model } from "@millrace/core";
import { say, scriptedModel } from "@millrace/core/testing";
import { itemId, partId } from "@millrace/core/writing";
import { sessionMemo, sessionPlugin, throughSession } from "@millrace/temporal/plugin";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { root } from "../../../scripts/workspace.ts";
import { until } from "../../kit/until.ts";
import { connectTo, startServers } from "../cluster.ts";
import type { Cluster, Talk } from "../cluster.ts";

/** A program that hangs, because a failure is repeated for ever, is noticed soon. */
vi.setConfig({ testTimeout: 60_000 });

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
let cluster: Cluster;
/** The requests that models got, by their question. */
const asked: string[] = [];

beforeAll(async () => {
  const servers = started.use(await startServers());
  cluster = started.use(await connectTo(servers));
  const { store, log } = cluster;
  const logger = new DefaultLogger("ERROR");
  const plugins = [sessionPlugin({ store, log })];
  const workflowsPath = join(root, "tests/temporal/plugins/programs.ts");
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, plugins, logger });
  const connection = await NativeConnection.connect({ address: servers.temporal.url });
  started.defer(() => connection.close());
  const activities = { ask };
  const worker = await Worker.create({
    connection,
    taskQueue: "programs",
    workflowBundle,
    activities,
    plugins,
  });
  const running = worker.run();
  started.defer(async () => {
    worker.shutdown();
    await running;
  });
}, 300_000);

test("replies at the same time are streamed in lanes of their own, in one run", async () => {
  const { talk, workflow } = await begin("together", [["one", "two", "three"]]);

  expect(await workflow.result()).toEqual(["to one", "to two", "to three"]);

  const facts = await talk.facts();
  const replies = facts.filter(
    (fact) => fact.type === "item_committed" && fact.item.author === "model",
  );
  expect(new Set(replies.map((fact) => "lane" in fact && fact.lane)).size).toBe(3);
  expect(count(facts, "run_started")).toBe(1);
  expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
});

test("a workflow that fails ends the session's run with its message", async () => {
  const { talk, workflow } = await begin("failing", ["a ticket"]);

  await expect(workflow.result()).rejects.toThrow(WorkflowFailedError);

  const message = "the tickets are sold out";
  expect((await talk.facts()).at(-1)).toMatchObject({ outcome: "failed", cause: { message } });
});

test("a workflow that is continued as new goes on with the session's run", async () => {
  const { talk, workflow } = await begin("chapters", [3]);

  expect(await workflow.result()).toBe("to chapter 1");

  const facts = await talk.facts();
  expect([count(facts, "session_claimed"), count(facts, "run_started")]).toEqual([3, 1]);
  expect(texts(facts)).toEqual(["chapter 3", "to chapter 3", "to chapter 2", "to chapter 1"]);
});

test("a workflow that lives on ends each run by itself", async () => {
  const { talk, workflow } = await begin("rounds", [["one", "two"]]);

  await workflow.result();

  const facts = await talk.facts();
  expect([count(facts, "session_claimed"), count(facts, "run_finished")]).toEqual([1, 2]);
  expect(texts(facts)).toEqual(["one", "to one", "two", "to two"]);
});

test("a workflow that is cancelled leaves no run behind, and the stop is shown", async () => {
  const { talk, workflow } = await begin("together", [["for ever"]]);
  await until(() => asked.includes("for ever"), "the model is asked");

  await workflow.cancel();
  await expect(workflow.result()).rejects.toThrow(WorkflowFailedError);

  const facts = await talk.facts();
  expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "aborted" });
  expect(facts.some((fact) => fact.type === "item_committed" && fact.item.stop === "aborted")).toBe(
    true,
  );
});

test("a person's stop ends the request and fails the activity for good", async () => {
  const { talk, workflow } = await begin("together", [["without end"]]);
  await until(() => asked.includes("without end"), "the model is asked");

  const before = performance.now();
  await talk.inbox.abort({});
  const failure: unknown = await workflow.result().catch((error: unknown) => error);

  console.log(`a stop failed its workflow after ${Math.round(performance.now() - before)} ms`);
  expect(typeOf(failure)).toBe("Stopped");
  expect(asked.filter((question) => question === "without end")).toHaveLength(1);
  expect((await talk.facts()).at(-1)).toMatchObject({ type: "run_finished", outcome: "aborted" });
});

test("a workflow that is reset writes a new run, and what the old one writes is refused", async () => {
  const { talk, workflow } = await begin("inTurn", [["one", "endless once"]]);
  await until(() => asked.includes("endless once"), "the second reply streams");
  const { runId } = await workflow.describe();
  const tasks = (await workflow.fetchHistory()).events?.flatMap(({ eventId, ...event }) =>
    event.workflowTaskCompletedEventAttributes ? [eventId] : [],
  );

  await cluster.client.workflowService.resetWorkflowExecution({
    namespace: "default",
    workflowExecution: { workflowId: workflow.workflowId, runId },
    reason: "an operator wants it again",
    requestId: randomUUID(),
    workflowTaskFinishEventId: tasks?.[0] ?? null,
  });
  const again = cluster.client.workflow.getHandle(workflow.workflowId);

  expect(await again.result()).toEqual(["to one", "to endless once"]);
  const facts = await talk.facts();
  expect(texts(facts)).toEqual(["one", "to one", "one", "to one", "to endless once"]);
  const ends = facts.flatMap((fact) => (fact.type === "run_finished" ? [fact.outcome] : []));
  expect([count(facts, "session_claimed"), ...ends]).toEqual([2, "failed", "completed"]);
});

test("a workflow without a session asks its models as ever", async () => {
  const options = { workflowId: "alone", taskQueue: "programs", args: [["one"]] };

  expect(await cluster.client.workflow.execute("together", options)).toEqual(["to one"]);
});

/** Starts a workflow with a session of its own. */
async function begin(
  program: string,
  args: readonly unknown[],
): Promise<{ readonly talk: Talk; readonly workflow: WorkflowHandle }> {
  sessions += 1;
  const sessionId = `${program}-${sessions}`;
  const talk = await cluster.talk(sessionId);
  const record = await cluster.store.find(sessionId);
  if (record === undefined) throw new Error("the session is not there");
  const workflow = await cluster.client.workflow.start(program, {
    workflowId: sessionId,
    taskQueue: "programs",
    args: [...args],
    memo: sessionMemo(record),
  });
  return { talk, workflow };
}
let sessions = 0;

/** The activity: one request to a model that says what it was asked. */
async function ask(question: string): Promise<string> {
  const part = { kind: "text", id: partId("p"), text: question } as const;
  const transcript = [{ id: itemId("q"), author: "user", parts: [part], stop: "end" }] as const;
  const { parts, cause } = await throughSession(answering(question)).stream({ transcript }).result;
  if (cause !== undefined) throw new Error(cause.message); // wrapped, as frameworks do
  return parts.map((reply) => ("text" in reply ? reply.text : "")).join("");
}

/** Streams for half a second, or until it is stopped; what is endless once ends the second time. */
function answering(question: string): Model {
  const isAgain = question.endsWith("once") && asked.includes(question);
  const isEndless = /ever$|end$|once$/.test(question) && !isAgain;
  const text = `to ${question}`.repeat(isEndless ? 10_000 : 1);
  const model = scriptedModel([[say(text)]], { delayMs: 20, chunk: [1] });
  return {
    ...model,
    stream: (request) => {
      asked.push(question);
      return model.stream(request);
    },
  };
}

function count(facts: readonly Fact[], type: Fact["type"]): number {
  return facts.filter((fact) => fact.type === type).length;
}

function texts(facts: readonly Fact[]): readonly string[] {
  return facts.flatMap((fact) =>
    fact.type === "item_committed"
      ? [fact.item.parts.map((part) => ("text" in part ? part.text : "")).join("")]
      : [],
  );
}

/** The type of the failure at the bottom of all that wrap it. */
function typeOf(failure: unknown): string | null | undefined {
  let error = failure;
  while (error instanceof Error && error.cause !== undefined) error = error.cause;
  return error instanceof ApplicationFailure ? error.type : undefined;
}
