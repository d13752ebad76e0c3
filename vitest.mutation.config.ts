import { fileURLToPath } from "node:url";
import { defaultServerConditions } from "vite";
import { defineConfig } from "vitest/config";

// What mutants of fold, verify and project are held against: quick tests with a lot to say. The
// slower laws are left to the ordinary run, since each mutant would have to wait for them.
const conditions = ["@millrace/source", ...defaultServerConditions];
// By path, because the packages that node_modules links to are not the mutated ones.
const core = (entry: string): string =>
  fileURLToPath(new URL(`packages/core/src/${entry}`, import.meta.url));
const alias = [
  { find: /^@millrace\/core$/, replacement: core("index.ts") },
  { find: /^@millrace\/core\/(.+)$/, replacement: core("$1.ts") },
];

export default defineConfig({
  resolve: { conditions, alias },
  ssr: { resolve: { conditions } },
  test: {
    include: [
      "packages/core/src/delta/*.test.ts",
      "packages/core/src/event/{project,golden}.test.ts",
      "packages/conformance/src/vectors.test.ts",
    ],
    exclude: ["**/*.perf.test.ts"],
  },
});
