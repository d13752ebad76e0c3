import { expect, test } from "vitest";
import { checkLayers } from "./check-layers.ts";
import { lineLimit } from "./layers.ts";
import { temporaryFolder } from "./temporary.ts";

/** A small tree in order, into which each test plants one violation. */
const orderly: Readonly<Record<string, string>> = {
  "packages/core/package.json": manifest("core"),
  "packages/core/src/index.ts": `export { fold } from "./delta/fold.ts";\n`,
  "packages/core/src/ids.ts": `export type Id = string;\n`,
  "packages/core/src/content/part.ts": `import type { Id } from "../ids.ts";\nexport type Part = Id;\n`,
  "packages/core/src/delta/fold.ts": `import type { Part } from "../content/part.ts";\nexport const fold = (part: Part): Part => part;\n`,
  "packages/core/src/delta/fold.test.ts": `import { test } from "vitest";\nimport { fold } from "@millrace/core";\ntest(fold(""), () => {});\n`,
  "packages/agent/package.json": manifest("agent", { dependencies: { "@millrace/core": "1" } }),
  "packages/agent/src/loop.ts": `import { fold } from "@millrace/core";\nexport const loop = fold;\n`,
  "packages/stores/package.json": manifest("stores", {
    dependencies: { "@millrace/core": "1" },
    peerDependencies: { pg: "8" },
    peerDependenciesMeta: { pg: { optional: true } },
  }),
};

const violations: readonly {
  readonly rule: string;
  readonly plant: Readonly<Record<string, string>>;
  readonly reported: string;
}[] = [
  {
    rule: "a lower package never imports a higher one",
    plant: { "packages/core/src/up.ts": `\nexport { loop } from "@millrace/agent";\n` },
    reported: "packages/core/src/up.ts:2: core may not import @millrace/agent",
  },
  {
    rule: "a test never imports a higher package",
    plant: { "packages/core/src/up.test.ts": `import "@millrace/agent";\n` },
    reported: "packages/core/src/up.test.ts:1: core may not import @millrace/agent",
  },
  {
    rule: "a manifest never names a higher package",
    plant: {
      "packages/core/package.json": manifest("core", { dependencies: { "@millrace/agent": "1" } }),
    },
    reported: "packages/core/package.json:1: core may not depend on @millrace/agent",
  },
  {
    rule: "an imported package is declared",
    plant: { "packages/agent/package.json": manifest("agent") },
    reported: "packages/agent/src/loop.ts:1: agent imports @millrace/core but does not declare it",
  },
  {
    rule: "a third-party dependency is in the table",
    plant: { "packages/core/package.json": manifest("core", { dependencies: { zod: "4" } }) },
    reported: "packages/core/package.json:1: core may not depend on zod",
  },
  {
    rule: "a third-party import is in the table, in types too",
    plant: { "packages/core/src/zod.ts": `export type Z = import("zod/mini").ZodMiniType;\n` },
    reported: "packages/core/src/zod.ts:1: core may not import zod",
  },
  {
    rule: "a peer is optional where the table says so",
    plant: {
      "packages/stores/package.json": manifest("stores", { peerDependencies: { pg: "8" } }),
    },
    reported: "packages/stores/package.json:1: the peer dependency pg of stores must be optional",
  },
  {
    rule: "a package that runs everywhere imports nothing of Node",
    plant: { "packages/core/src/disk.ts": `export const fs = import("node:fs");\n` },
    reported: "packages/core/src/disk.ts:1: core may not import node:fs: it runs everywhere",
  },
  {
    rule: "a package does not reach into another's files",
    plant: { "packages/agent/src/reach.ts": `export * from "../../core/src/ids.ts";\n` },
    reported:
      "packages/agent/src/reach.ts:1: agent may not import packages/core/src/ids.ts, outside its own sources",
  },
  {
    rule: "a folder of core imports only lower folders",
    plant: {
      "packages/core/src/content/up.ts": `import type { fold } from "../delta/fold.ts";\nexport type Fold = typeof fold;\n`,
    },
    reported: "packages/core/src/content/up.ts:1: core/content may not import core/delta",
  },
  {
    rule: "a file that every folder of core uses imports none of them",
    plant: { "packages/core/src/ids.ts": `export type { Part as Id } from "./content/part.ts";\n` },
    reported: "packages/core/src/ids.ts:1: core/*.ts may not import core/content",
  },
  {
    rule: "a new folder of core needs a row in the table",
    plant: { "packages/core/src/extra/a.ts": `export * from "../content/part.ts";\n` },
    reported: "packages/core/src/extra/a.ts:1: layers.ts has no rule for core/extra",
  },
  {
    rule: "a new package needs a row in the table",
    plant: { "packages/extra/package.json": manifest("extra") },
    reported: "packages/extra/package.json:1: layers.ts has no rule for extra",
  },
  {
    rule: "an index file holds no code",
    plant: { "packages/core/src/index.ts": `export const answer = 42;\n` },
    reported: "packages/core/src/index.ts:1: an index file holds only export { … } from",
  },
  {
    rule: "an index file names what it exports",
    plant: { "packages/core/src/index.ts": `export * from "./ids.ts";\n` },
    reported: "packages/core/src/index.ts:1: an index file holds only export { … } from",
  },
  {
    rule: "a source file is not too long",
    plant: { "packages/core/src/long.ts": "// a line\n".repeat(lineLimit + 1) },
    reported: `packages/core/src/long.ts:${lineLimit}: ${lineLimit + 1} lines, limit ${lineLimit}`,
  },
];

test("a tree in order has no violations", () => {
  using folder = temporaryFolder(orderly);

  expect(checkLayers(folder.path, {})).toEqual([]);
});

test.each(violations)("$rule", ({ plant, reported }) => {
  using folder = temporaryFolder({ ...orderly, ...plant });

  expect(checkLayers(folder.path, {})).toEqual([reported]);
});

test("a helper for tests may use test tools", () => {
  const helper = {
    "packages/core/src/testing/arbitraries.ts": `export * from "fast-check";\n`,
    "packages/core/src/event/testing/arbitraries.ts": `export * from "fast-check";\n`,
  };
  using folder = temporaryFolder({ ...orderly, ...helper });

  expect(checkLayers(folder.path, {})).toEqual([]);
});

test("shipped code imports no helper for tests", () => {
  const plant = { "packages/agent/src/a.ts": `export * from "./testing/b.ts";\n` };
  using folder = temporaryFolder({ ...orderly, ...plant });

  expect(checkLayers(folder.path, {})).toEqual([
    "packages/agent/src/a.ts:1: agent may not import packages/agent/src/testing/b.ts, which is not shipped",
  ]);
});

test("a long test file is no violation", () => {
  const long = { "packages/core/src/long.test.ts": "// a line\n".repeat(lineLimit + 1) };
  using folder = temporaryFolder({ ...orderly, ...long });

  expect(checkLayers(folder.path, {})).toEqual([]);
});

test("a file may be long if it is listed, and only as long as it is long", () => {
  const [long, short] = ["packages/core/src/long.ts", "packages/core/src/ids.ts"];
  using folder = temporaryFolder({ ...orderly, [long]: "// a line\n".repeat(lineLimit + 1) });

  expect(checkLayers(folder.path, { [long]: "because" })).toEqual([]);
  expect(checkLayers(folder.path, { [long]: "because", [short]: "because" })).toEqual([
    "packages/core/src/ids.ts:1: no longer long; remove it from longFiles",
  ]);
});

test("the tree of this repository is in order", () => {
  expect(checkLayers()).toEqual([]);
});

function manifest(id: string, fields: object = {}): string {
  return JSON.stringify({ name: `@millrace/${id}`, ...fields });
}
