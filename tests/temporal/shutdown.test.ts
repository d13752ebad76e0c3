/** A worker that shuts down, a person who stops, and an operator who cancels are told apart. */
import { WorkflowFailedError } from "@temporalio/client";
import { defineAgent } from "@millrace/agent";
import type { Agent } from "@millrace/agent";
import type { Model } from "@millrace/core";
import { say, scriptedModel, stall } from "@millrace/core/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../kit/until.ts";
import { type Cluster, connectTo, startServers } from "./cluster.ts";

/** Far longer than a step takes to go on elsewhere: only a lost worker waits for it. */
const heartbeatMs = 60_000;

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
let cluster: Cluster;

beforeAll(async () => {
  const servers = started.use(await startServers());
  cluster = started.use(await connectTo(servers));
}, 300_000);

test(
  "a reply whose worker shuts down goes on in another one at once, and is not aborted",
  { timeout: 120_000 },
  async () => {
    const asked: string[] = [];
    const first = await cluster.work({
      agent: silent(() => asked.push("first")),
      drainMs: 200,
      heartbeatMs,
    });
    const talk = await cluster.talk("moved");
    await talk.send("hello");
    await until(() => asked.length === 1, "the first worker asks the model");
    const other = scriptedModel([[say("from the other one")]]);
    await using _ = await cluster.work({
      agent: defineAgent({ model: noting(other, () => asked.push("other")) }),
      heartbeatMs,
    });

    const before = performance.now();
    await Promise.all([first.shutdown(), talk.fact("run_finished")]);

    const tookMs = performance.now() - before;
    await talk.handle.result();
    console.log(
      `a reply went on after a shutdown, drained for 200 ms: ended after ${Math.round(tookMs)} ms`,
    );
    expect(tookMs).toBeLessThan(heartbeatMs / 4);
    expect(asked).toEqual(["first", "other"]);
    const facts = await talk.facts();
    expect(
      facts.filter((fact) => fact.type === "input_accepted" && fact.input.kind === "abort"),
    ).toEqual([]);
    expect(facts.at(-1)).toMatchObject({ type: "run_finished", outcome: "completed" });
  },
);

test("a workflow that is cancelled in Temporal stops its run", { timeout: 120_000 }, async () => {
  let asked = 0;
  await using _ = await cluster.work({
    agent: silent(() => (asked += 1)),
    taskQueue: "millrace",
  });
  const talk = await cluster.talk("cancelled");
  await talk.send("hello");
  await until(() => asked > 0, "the model is asked");

  await talk.handle.cancel();
  const failure: unknown = await talk.handle.result().catch((error: unknown) => error);

  expect(failure).toBeInstanceOf(WorkflowFailedError);
  expect((await talk.handle.describe()).status.name).toBe("CANCELLED");
  expect((await talk.facts()).at(-1)).toMatchObject({ type: "run_finished", outcome: "aborted" });
  expect(asked).toBe(1);
});

/** An agent whose model never ends its reply. */
function silent(onAsked: () => unknown): Agent {
  const model = scriptedModel([
    [say("so far"), stall()],
    [say("again"), stall()],
  ]);
  return defineAgent({ model: noting(model, onAsked), stall: false });
}

function noting(model: Model, onAsked: () => unknown): Model {
  return {
    ...model,
    stream: (request) => {
      onAsked();
      return model.stream(request);
    },
  };
}
