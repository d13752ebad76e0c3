/** Temporal's own plug-ins, as they are published, with sessions of ours: their examples as real processes. */
import { unpackEpoch } from "@millrace/core/ports";
import { ApplicationFailure } from "@temporalio/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../kit/until.ts";
import { connectTo, startServers } from "../cluster.ts";
import type { Cluster, Servers } from "../cluster.ts";
import { encode, storedRuns } from "../stored-history.ts";
import { ExampleWorker, runExample } from "./example-worker.ts";
import { answer, question, Trip } from "./trip.ts";

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());
let servers: Servers;
let cluster: Cluster;
/** The worker of each example that runs. Its workflows take seconds to bundle. */
const workers = new Map<string, Promise<ExampleWorker>>();

beforeAll(async () => {
  servers = started.use(await startServers());
  cluster = started.use(await connectTo(servers));
}, 300_000);

const examples = [
  { example: "temporal-openai-agents", queue: "agents", calls: ["transfer_to_packer", "weather"] },
  { example: "temporal-ai-sdk", queue: "ai-sdk", calls: ["weather"] },
] as const;
const timeout = 300_000;

test.concurrent.each(examples)(
  "what a viewer of $example reads after its worker was killed in mid-reply is the workflow's result",
  { timeout },
  async ({ example, queue, calls }) => {
    const first = await workerOf(example);
    await using trip = await Trip.begin(cluster, `${example}-killed`, queue);
    await until(() => trip.text.length > 200, "the viewer reads");

    const killedAt = performance.now();
    await first.kill();
    const cut = trip.text;
    workers.delete(example);
    await workerOf(example);
    const upAt = performance.now();
    const result = await trip.workflow.result();
    const endedAt = performance.now();
    await until(() => trip.session.status === "idle", "the viewer sees the end of the run");

    const [stored] = await storedRuns(cluster.client, trip.workflow.workflowId);
    const history = (stored?.events ?? []).map((event) => encode(event).toString("latin1"));
    const kept = history.filter((event) => event.includes(answer)).length;
    console.log(
      `${example}: killed after ${cut.length} of ${answer.length} characters; the next worker was up after ${Math.round(upAt - killedAt)} ms, its workflow ended ${Math.round(endedAt - upAt)} ms later; ${calls.length + 1} replies: ${history.length} events, ${stored?.bytes ?? 0} bytes, the answer in ${kept} of them`,
    );
    expect(kept).toBe(2); // by the plug-in: as its activity's result, and as the workflow's
    expect(cut.length).toBeLessThan(answer.length);
    expect(result).toBe(answer);
    expect(trip.screen).toEqual([
      `user: ${question}`,
      ...calls.map((tool) => `${tool}: finished`),
      `model: ${result}`,
    ]);
    expect(trip.restarts).toBeGreaterThan(0); // the text of the killed attempt made room for the next
    expect(trip.texts.filter((text) => !result.startsWith(text))).toEqual([]);
    const replies = await trip.replies();
    expect(replies.at(-1)?.item.parts).toMatchObject([{ kind: "text", text: result }]);
    expect(replies).toHaveLength(calls.length + 1); // each reply is stored once
    // A worker that gets no time to beat is taken for dead too, so there may be more attempts than kills.
    expect(unpackEpoch(replies.at(-1)?.epoch ?? 0).attempt).toBeGreaterThan(1);
    const types = (await trip.facts()).map(({ type }) => type);
    for (const type of ["tool_execution_started", "tool_execution_finished"] as const)
      expect(types.filter((one) => one === type)).toHaveLength(calls.length);
    expect((await trip.facts()).at(-1)).toMatchObject({ outcome: "completed" });
  },
);

test.each(examples)(
  "the program of $example prints the answer",
  { timeout },
  async ({ example }) => {
    await workerOf(example);

    expect(await runExample(example, "start.ts", servers)).toBe(`${answer}\n`);
  },
);

test.each(examples)(
  "a viewer's stop ends the reply of $example, and its workflow fails for good",
  { timeout },
  async ({ example, queue, calls }) => {
    await workerOf(example);
    await using trip = await Trip.begin(cluster, `${example}-stopped`, queue);
    await until(() => trip.text.length > 200, "the viewer reads");

    await trip.session.abort().accepted;
    const failure: unknown = await trip.workflow.result().catch((error: unknown) => error);
    await until(() => trip.session.status === "idle", "the viewer sees the end of the run");

    expect(causeOf(failure)).toMatchObject({ type: "Stopped", nonRetryable: true });
    const replies = await trip.replies();
    expect(replies).toHaveLength(calls.length + 1);
    expect(replies.at(-1)?.item).toMatchObject({ stop: "aborted", parts: [{ text: trip.text }] });
    expect(answer.startsWith(trip.text) && trip.text.length < answer.length).toBe(true);
    expect((await trip.facts()).at(-1)).toMatchObject({ outcome: "aborted" });
  },
);

function workerOf(example: string): Promise<ExampleWorker> {
  const known = workers.get(example);
  if (known !== undefined) return known;
  const worker = ExampleWorker.start(example, servers).then((up) => started.use(up));
  workers.set(example, worker);
  return worker;
}

/** The failure at the bottom of all that wrap it. */
function causeOf(failure: unknown): unknown {
  let error = failure;
  while (error instanceof Error && error.cause !== undefined) error = error.cause;
  return error instanceof ApplicationFailure ? error : undefined;
}
