/** Sessions that began under an earlier version of the workflow go on under this one. */
import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { Worker } from "@temporalio/worker";
import { beforeAll, expect, test } from "vitest";
import { bundleWorkflow } from "../workflow/bundle.ts";
import { bundleOfWorkflows, quiet } from "./cluster.ts";
import { features } from "./features.ts";

const folder = join(import.meta.dirname, "histories");
const files = readdirSync(folder).toSorted();

let bundle: { readonly code: string; readonly sourceMap: string };
let planted: typeof bundle;
let reordered: typeof bundle;
beforeAll(async () => {
  quiet();
  bundle = await bundleOfWorkflows();
  planted = await bundleWith("planted-loop.ts");
  reordered = await bundleWith("planted-order.ts");
}, 300_000);

test("each feature has a recorded history, and the long one was continued as new", () => {
  expect(files.toSorted()).toEqual(
    [...Object.keys(features), "long-2"].map((name) => `${name}.json`).toSorted(),
  );
});

test.each(files)("%s is replayed by this version", { timeout: 120_000 }, async (file) => {
  await Worker.runReplayHistory({ workflowBundle: bundle }, historyIn(file));
});

test.each(files)(
  "%s is refused by a loop that decides otherwise",
  { timeout: 120_000 },
  async (file) => {
    const replayed = Worker.runReplayHistory({ workflowBundle: planted }, historyIn(file));

    await expect(replayed).rejects.toMatchObject({ name: "DeterminismViolationError" });
  },
);

test.each(["queues.json", "tools.json"])(
  "%s, which has two calls at once, is refused by a loop that makes them in another order",
  { timeout: 120_000 },
  async (file) => {
    const replayed = Worker.runReplayHistory({ workflowBundle: reordered }, historyIn(file));

    await expect(replayed).rejects.toMatchObject({ name: "DeterminismViolationError" });
  },
);

test.each(files)("%s names neither a machine nor a place in one", (file) => {
  const text = readFileSync(join(folder, file), "utf8");

  expect(text).not.toContain(hostname());
  expect(text).not.toMatch(/\d@\w|\/(home|root|work|tmp|usr)\//);
});

/** The workflows with another loop. */
async function bundleWith(loop: string): Promise<typeof bundle> {
  const alias = { "@millrace/agent/loop": join(import.meta.dirname, loop) };
  const { code } = await bundleWorkflow("packages/temporal/src/workflow/index.ts", { alias });
  return { code, sourceMap: "{}" };
}

function historyIn(file: string): unknown {
  return JSON.parse(readFileSync(join(folder, file), "utf8"));
}
