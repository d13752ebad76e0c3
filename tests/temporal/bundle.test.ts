/** Our workflows as Temporal bundles them, and agents that are used inside of one by mistake. */
import { afterAll, expect, test } from "vitest";
import { defineAgent } from "@millrace/agent";
import { bundleWorkflow } from "../workflow/bundle.ts";
import { connectTo, startServers } from "./cluster.ts";

const started = new AsyncDisposableStack();
afterAll(() => started.disposeAsync());

test("the workflow's bundle has our own modules and Temporal's, and nothing of Node", async () => {
  const bundle = await bundleWorkflow("packages/temporal/src/workflow/index.ts");
  const ours = /^packages\/(agent\/src\/loop|core\/src|temporal\/src)\//;

  const files = bundle.modules.map(({ file }) => file);
  expect(files).toContain("packages/temporal/src/workflow/agent-workflow.ts");
  expect(files.filter((file) => !ours.test(file))).toEqual([]);
  expect(files.filter((file) => /temporal\/src\/(worker|client)\//.test(file))).toEqual([]);
  expect(
    bundle.packages.filter((name) => !/^(@temporalio\/\w+|nexus-rpc|long|ms)$/.test(name)),
  ).toEqual([]);
  expect(
    bundle.foreign.filter((path) => !/node_modules\/@temporalio\/workflow\//.test(path)),
  ).toEqual([]);
});

test(
  "an agent that is run or opened in a workflow says what to do instead",
  { timeout: 300_000 },
  async () => {
    const servers = started.use(await startServers());
    const cluster = started.use(await connectTo(servers));
    const { code } = await bundleWorkflow("tests/temporal/streaming-workflow.ts");
    const agent = defineAgent({ respond: async (run) => void (await run.write("hello")) });
    await cluster.work({ agent, taskQueue: "mistakes", workflows: { code, sourceMap: "{}" } });

    const told = await cluster.client.workflow.execute<() => Promise<readonly string[]>>(
      "streamingWorkflow",
      { workflowId: "mistake", taskQueue: "mistakes", args: [] },
    );

    expect(told).toHaveLength(2);
    for (const text of told)
      expect(text).toMatch(/call openSession and streamReply of @millrace\/temporal\/workflow/);
  },
);
