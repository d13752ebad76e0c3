import { defaultServerConditions } from "vite";
import { configDefaults, defineConfig } from "vitest/config";

// Tests run on the TypeScript sources: the "@millrace/source" condition of our packages wins over dist, so
// no build is needed and no test can pass on a stale one.
const conditions = ["@millrace/source", ...defaultServerConditions];

const timed = "{packages/*/{src,test},apps/*/src,tests}/**/*.perf.test.ts";

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
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
          ],
          exclude: [...configDefaults.exclude, timed],
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: "timed",
          // A mutant says nothing about time. All others: afterwards, alone, one file at a time.
          include: process.env["MUTATION"] === "1" ? [] : [timed],
          sequence: { groupOrder: 1 },
          fileParallelism: false,
        },
      },
    ],
  },
});
