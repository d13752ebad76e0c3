import { expect, test } from "vitest";
import { temporaryFolder } from "./temporary.ts";
import { testsWithProcesses, testsWithTemporal } from "./unit-tests.ts";

test("a test starts a process if it imports the module for it, however far away", () => {
  using folder = temporaryFolder({
    "tests/direct.test.ts": 'import { spawn } from "node:child_process";\n',
    "tests/far.test.ts": 'import { start } from "../scripts/services/start.ts";\n',
    "scripts/services/start.ts": 'export { start } from "./spawn.ts";\n',
    "scripts/services/spawn.ts": 'export const start = await import("node:child_process");\n',
    "packages/a/src/plain.test.ts": 'import { a } from "./a.ts";\nimport fs from "node:fs";\n',
    "packages/a/src/a.ts": 'import { b } from "./b.ts";\nexport const a = b;\n',
    "packages/a/src/b.ts": 'import type { a } from "./a.ts";\nexport const b = 1;\n',
  });

  expect(testsWithProcesses(folder.path)).toEqual(["tests/direct.test.ts", "tests/far.test.ts"]);
});

test("a test needs a Temporal server if it imports what starts one, however far away", () => {
  using folder = temporaryFolder({
    "packages/temporal/src/driver.test.ts": 'import { serve } from "./testing/serve.ts";\n',
    "packages/temporal/src/testing/serve.ts":
      'export { startTemporal as serve } from "../../../../scripts/services/temporal.ts";\n',
    "packages/temporal/src/outline.test.ts": 'import { redis } from "../other/temporal.ts";\n',
    "packages/temporal/other/temporal.ts": "export const redis = 1;\n",
    "tests/temporal/kills.test.ts": 'import "../../scripts/services/temporal.ts";\n',
    "scripts/services/temporal.ts": "export const startTemporal = 1;\n",
  });

  expect(testsWithTemporal(folder.path)).toEqual([
    "packages/temporal/src/driver.test.ts",
    "tests/temporal/kills.test.ts",
  ]);
});
