import { availableParallelism } from "node:os";
import { defaultServerConditions } from "vite";
import { configDefaults, defineConfig } from "vitest/config";
import { sortTests } from "./scripts/test-kinds.ts";

// Tests run on the TypeScript sources: the "@millrace/source" condition of our packages wins over dist, so
// no build is needed and no test can pass on a stale one.
const conditions = ["@millrace/source", ...defaultServerConditions];

// Each test file is in one project, by what it starts.
const { local, integration, browser, temporal, timed } = sortTests(import.meta.dirname);

// A mutant says nothing about time, and takes no server.
const mutation = process.env["MUTATION"] === "1";

// Files of one worker share their modules: loading them costs more than most tests.
const inOneProcess = {
  env: { UNIT: "1" },
  isolate: false,
  maxWorkers: Math.max(4, availableParallelism()),
};

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    // Much of the time is spent waiting for other processes: on two cores one worker would leave one idle.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Machines are noisy: what hangs is still found, and what is slow for once does not fail.
    testTimeout: 60_000,
    setupFiles: ["tests/kit/seed.ts"],
    coverage: { include: ["packages/*/src/**/*.ts"], exclude: ["packages/*/src/testing/**"] },
    projects: [
      {
        extends: true,
        test: {
          name: "unit",
          // All others, so that a new file is found while tests are watched.
          include: [
            "packages/*/{src,test}/**/*.test.ts",
            "apps/*/src/**/*.test.ts",
            "examples/*/*.test.ts",
            "tests/**/*.test.ts",
            "scripts/**/*.test.ts",
            "differential/*.test.ts",
          ],
          exclude: [
            ...configDefaults.exclude,
            ...[local, integration, browser, temporal, timed].flat(),
          ],
          setupFiles: ["tests/kit/no-processes.ts", "tests/kit/no-ports.ts"],
          sequence: { groupOrder: 0 },
          ...inOneProcess,
        },
      },
      {
        extends: true,
        test: {
          name: "local",
          include: [...local],
          setupFiles: ["tests/kit/no-processes.ts"],
          sequence: { groupOrder: 1 },
          ...inOneProcess,
        },
      },
      {
        extends: true,
        test: {
          name: "integration",
          include: [...integration],
          // These wait most.
          maxWorkers: Math.max(3, availableParallelism()),
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { name: "browser", include: [...browser], sequence: { groupOrder: 3 } },
      },
      {
        extends: true,
        test: {
          name: "temporal",
          include: mutation ? [] : [...temporal],
          sequence: { groupOrder: 4 },
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
          include: mutation ? [] : [...timed],
          sequence: { groupOrder: 6 },
          fileParallelism: false,
        },
      },
    ],
  },
});
