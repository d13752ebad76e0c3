import { availableParallelism } from "node:os";
import { defaultServerConditions } from "vite";
import { configDefaults, defineConfig } from "vitest/config";
import { testsWithProcesses, testsWithTemporal } from "./scripts/unit-tests.ts";

// Tests run on the TypeScript sources: the "@millrace/source" condition of our packages wins over dist, so
// no build is needed and no test can pass on a stale one.
const conditions = ["@millrace/source", ...defaultServerConditions];

const timed = "{packages/*/{src,test},apps/*/src,tests}/**/*.perf.test.ts";

// Tests that import `scripts/services/temporal.ts`, however far away. Other tests beside them need no server,
// and belong to "tests".
const temporal = testsWithTemporal(import.meta.dirname);

// `npm run test:unit`: without services, child processes and measurements of time.
const unit = process.env["UNIT"] === "1";
const processes = unit ? testsWithProcesses(import.meta.dirname) : [];

// A mutant says nothing about time, and takes no server.
const mutation = process.env["MUTATION"] === "1";

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Much of the time is spent waiting for other processes: on two cores one worker would leave one idle.
    maxWorkers: Math.max(unit ? 4 : 2, availableParallelism() - 1),
    // In the inner loop files of one worker share their modules: loading them costs more than most tests.
    isolate: !unit,
    // Machines are noisy: what hangs is still found, and what is slow for once does not fail.
    testTimeout: 60_000,
    coverage: { include: ["packages/*/src/**/*.ts"], exclude: ["packages/*/src/testing/**"] },
    projects: [
      {
        extends: true,
        test: {
          name: "tests",
          include: [
            "packages/*/{src,test}/**/*.test.ts",
            "apps/*/src/**/*.test.ts",
            "examples/*/*.test.ts",
            "tests/**/*.test.ts",
            "scripts/**/*.test.ts",
            "differential/*.test.ts",
          ],
          exclude: [...configDefaults.exclude, timed, ...temporal, ...processes],
          setupFiles: unit ? ["tests/kit/no-processes.ts"] : [],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "temporal",
          include: mutation || unit ? [] : temporal,
          exclude: [...configDefaults.exclude, timed],
          sequence: { groupOrder: 1 },
          // Each file has a server with a PostgreSQL of its own, which keep a core busy while they start.
          maxWorkers: 2,
          // Above the limit of a start, 120 s, which fails with the server's log.
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
      {
        extends: true,
        test: {
          name: "timed",
          // Afterwards, alone, one file at a time.
          include: mutation || unit ? [] : [timed],
          sequence: { groupOrder: 2 },
          fileParallelism: false,
        },
      },
    ],
  },
});
