import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "../../../scripts/workspace.ts";
import { bundleWorkflow } from "../../workflow/bundle.ts";
import { bundleProgram } from "./bundle.ts";
import type { NodePrograms } from "./bundle.ts";

/** The sources of the programs of nodes. */
export interface NodeSources {
  readonly worker: URL;
  readonly web: URL;
}

const usual: NodeSources = {
  worker: new URL("./temporal-worker-node.ts", import.meta.url),
  web: new URL("./temporal-web-node.ts", import.meta.url),
};

/** Bundles the programs of nodes that Temporal drives, and their workflows. Takes some seconds. */
export async function bundleTemporalNodes(sources: NodeSources = usual): Promise<NodePrograms> {
  const folder = await mkdtemp(join(tmpdir(), "millrace-nodes-"));
  // What stays outside of a bundle is found where it is installed.
  await symlink(join(root, "node_modules"), join(folder, "node_modules"));
  const workflows = join(folder, "workflows.js");
  const [worker, web, { code }] = await Promise.all([
    bundleProgram(sources.worker, join(folder, "worker.mjs")),
    bundleProgram(sources.web, join(folder, "web.mjs")),
    bundleWorkflow("packages/temporal/src/workflow/index.ts"),
  ]);
  await writeFile(workflows, code);
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  return { worker, web, workflows, [Symbol.asyncDispose]: remove };
}
