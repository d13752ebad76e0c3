#!/usr/bin/env node
import { nodeProblem } from "./node-version.ts";

const problem = nodeProblem(process.versions.node);
if (problem === undefined) {
  // Only now: an older Node can't load the rest.
  const { run } = await import("./run.ts");
  await run();
} else {
  console.error(`create-millrace: ${problem}`);
  process.exitCode = 1;
}
