/**
 * Bundles the built workflows of `@millrace/temporal` as a worker does that installed them. The bundler
 * rejects most modules of Node; the rest, and other packages, are found here.
 *
 *     node --conditions=@millrace/source scripts/check-workflow.ts
 *
 * Needs the built packages.
 */
import { join } from "node:path";
import { bundleWorkflow } from "../tests/workflow/bundle.ts";
import { report, root } from "./workspace.ts";

const entry = "packages/temporal/dist/workflow/index.js";
const built = new RegExp(`^${join(root, "packages")}/(agent|core|temporal)/dist/`);
const others = /^(@temporalio\/\w+|nexus-rpc|long|ms)$/;

const { packages } = await bundleWorkflow(entry, { conditions: [] });
const ours = packages.filter((name) => built.test(name));
const problems = packages
  .filter((name) => !built.test(name) && !others.test(name))
  .map((name) => `${entry} brings ${name} into the sandbox of workflows`);
if (ours.length === 0) problems.push(`${entry} has no module of its own: what is checked?`);
report(problems, `workflow: ${ours.length} built modules, and nothing of Node`);
