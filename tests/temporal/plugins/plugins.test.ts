/** Temporal's own plug-ins, as they are published, with sessions of ours: their examples as real processes. */
import { defineAgent } from "@millrace/agent";
import { createClient } from "@millrace/client";
import type { ClientSession } from "@millrace/client";
import type { Fact } from "@millrace/core";
import { unpackEpoch } from "@millrace/core/ports";
import { sessionMemo } from "@millrace/temporal/plugin";
import type { WorkflowHandle } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { serve } from "../../client/kit/served.ts";
import { until } from "../../kit/until.ts";
import { connectTo, startServers } from "../cluster.ts";
import type { Cluster, Servers } from "../cluster.ts";
import { ExampleWorker } from "./example-worker.ts";

const question = "What do I pack for Oslo?";
const answer = "Pack a raincoat, and boots for the hills. ".repeat(20);

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
let servers: Servers;
let cluster: Cluster;

beforeAll(async () => {
  servers = started.use(await startServers());
  cluster = started.use(await connectTo(servers));
}, 300_000);

const examples = [
  {
    example: "temporal-openai-agents",
    taskQueue: "agents",
    calls: ["transfer_to_packer", "weather"],
  },
  { example: "temporal-ai-sdk", taskQueue: "ai-sdk", calls: ["weather"] },
] as const;

test.each(examples)(
  "what a viewer of $example reads after its worker was killed in mid-reply is the workflow's result",
  { timeout: 300_000 },
  async ({ example, taskQueue, calls }) => {
    const { store, log } = cluster;
    const driver = { wake: () => undefined };
    await using served = await serve(nobody, { store, log, driver });
    using client = createClient({ url: served.url, token: "ann" });
    const session = client.session(example);
    const drafts = new Set<string>();
    session.subscribe(() => drafts.add(lastText(session)));
    await session.send(question).accepted;
    const record = await store.forTenant("acme").find(example);
    if (record === undefined) throw new Error("the session is not there");
    const first = await ExampleWorker.start(example, servers);
    const workflow = await cluster.client.workflow.start("travel", {
      workflowId: example,
      taskQueue,
      args: [question],
      memo: sessionMemo(record),
    });
    await until(() => lastText(session).length > 200, "the viewer reads", { limitMs: 120_000 });

    const killed = performance.now();
    await first.kill();
    const cut = lastText(session);
    await using _second = await ExampleWorker.start(example, servers);
    const up = performance.now();
    const result = (await workflow.result()) as string;
    const ended = performance.now();
    await until(() => session.status === "idle", "the viewer sees the end of the run");

    const facts = await store.forTenant("acme").read(record.uid);
    const replies = facts.flatMap((fact) => {
      return fact.type === "item_committed" && fact.item.author === "model" ? [fact] : [];
    });
    const last = replies.at(-1);
    console.log(
      `${example}: killed after ${cut.length} characters; the next worker was up after ${Math.round(up - killed)} ms, the workflow ended ${Math.round(ended - up)} ms later; ${await sizeOf(workflow)}`,
    );
    expect(cut.length).toBeLessThan(answer.length);
    expect(result).toBe(answer);
    expect(lastText(session)).toBe(result);
    expect(textIn(last)).toBe(result);
    expect(replies).toHaveLength(calls.length + 1); // each reply is stored once
    expect(replies.map(({ epoch }) => unpackEpoch(epoch ?? 0).attempt)).toEqual([
      ...calls.map(() => 1),
      2,
    ]);
    expect(
      session.items.flatMap(({ parts }) => parts).filter(({ kind }) => kind === "text").length,
    ).toBe(2);
    expect(session.items.every(({ live }) => !live)).toBe(true);
    expect([...drafts].every((text) => isPrefix(text))).toBe(true);
    expect(shown(session)).toEqual([
      `user: ${question}`,
      ...calls.map((tool) => `${tool}: finished`),
      `model: ${answer}`,
    ]);
    const kinds = facts.map(({ type }) => type);
    expect(kinds.filter((type) => type === "tool_execution_started")).toHaveLength(calls.length);
    expect(kinds.filter((type) => type === "tool_execution_finished")).toHaveLength(calls.length);
    expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
  },
);

/** Serves sessions that others drive. */
const nobody = defineAgent({ respond: async () => undefined });

/** The text of the last item, if a model writes it. */
function lastText(session: ClientSession): string {
  const item = session.items.at(-1);
  if (item?.author !== "model") return "";
  return item.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

function isPrefix(text: string): boolean {
  return answer.startsWith(text);
}

function textIn(fact: Fact | undefined): string | undefined {
  if (fact?.type !== "item_committed") return undefined;
  return fact.item.parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** What the screen shows: texts by their author, and calls with their state. */
function shown(session: ClientSession): readonly string[] {
  return session.items.flatMap(({ author, parts }) =>
    parts.map((part) => {
      if (part.kind === "text") return `${author}: ${part.text}`;
      return part.kind === "tool_call" ? `${part.tool}: ${part.state}` : part.kind;
    }),
  );
}

async function sizeOf(workflow: WorkflowHandle): Promise<string> {
  const { events } = await workflow.fetchHistory();
  return `its history has ${events?.length ?? 0} events`;
}
