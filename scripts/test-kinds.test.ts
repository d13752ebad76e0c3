import { expect, test } from "vitest";
import { temporaryFolder } from "./temporary.ts";
import { sortTests } from "./test-kinds.ts";

test("a test belongs to the kind of what it starts, however far away it imports that", () => {
  using folder = temporaryFolder({
    "tests/direct.test.ts": 'import { spawn } from "node:child_process";\n',
    "tests/far.test.ts": 'import {\n  start,\n} from "../scripts/services/start.ts";\n',
    "tests/page.test.ts": 'import { open } from "./kit/open.ts";\nimport "./direct.test.ts";\n',
    "tests/kit/open.ts": 'import { chromium } from "playwright-core";\n',
    "tests/cost.perf.test.ts": 'import { spawn } from "node:child_process";\n',
    "tests/temporal/kills.test.ts":
      'import "../../scripts/services/temporal.ts";\nimport { open } from "../kit/open.ts";\n',
    "scripts/services/start.ts": 'export { start } from "./spawn.ts";\n',
    "scripts/services/spawn.ts": 'export const start = await import("node:child_process");\n',
    "scripts/services/temporal.ts": 'import { spawn } from "node:child_process";\n',
    "packages/a/src/driver.test.ts": 'import { serve } from "./testing/serve.ts";\n',
    "packages/a/src/testing/serve.ts":
      'export { startTemporal as serve } from "../../../../scripts/services/temporal.ts";\n',
    "packages/a/src/plain.test.ts": 'import { a } from "./a.ts";\nimport fs from "node:fs";\n',
    "packages/a/src/port.test.ts": 'import { open } from "./testing/open.ts";\n',
    "packages/a/src/testing/open.ts": "export const open = () => server.listen(0);\n",
    "packages/a/src/a.ts": 'import { b } from "./b.ts";\nexport const a = b;\n',
    "packages/a/src/b.ts": 'import { a } from "./a.ts";\nexport const b = 1;\n',
  });

  expect(sortTests(folder.path)).toEqual({
    unit: ["packages/a/src/plain.test.ts"],
    local: ["packages/a/src/port.test.ts"],
    integration: ["tests/direct.test.ts", "tests/far.test.ts"],
    browser: ["tests/page.test.ts"],
    temporal: ["packages/a/src/driver.test.ts", "tests/temporal/kills.test.ts"],
    timed: ["tests/cost.perf.test.ts"],
  });
});

test("a type is not started, nor is what one of our packages could start", () => {
  using folder = temporaryFolder({
    "packages/a/src/types.test.ts": 'import type { ChildProcess } from "node:child_process";\n',
    "packages/a/src/package.test.ts": 'import { defineAgent } from "@millrace/agent";\n',
  });

  expect(sortTests(folder.path).unit).toHaveLength(2);
});
