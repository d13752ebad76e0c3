import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

// Tests run on the TypeScript sources: the "source" condition of our packages wins over dist, so
// no build is needed and no test can pass on a stale one.
const conditions = ["source", ...defaultServerConditions];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "packages/*/test/**/*.test.ts", "scripts/*.test.ts"],
    coverage: { include: ["packages/*/src/**/*.ts"], reportsDirectory: "coverage" },
  },
});
