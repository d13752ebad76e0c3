import { expect, test } from "vitest";
import { type Tables, checkLayers, findTwoWayPairs } from "./check-layers.ts";
import { type FolderRules, lineLimit } from "./layers.ts";
import { temporaryFolder } from "./temporary.ts";

/** A small valid tree, into which each test plants one violation. */
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
  "packages/stores/src/text.ts": `export type Text = string;\n`,
  "packages/stores/src/file/file.ts": `export type { Text as File } from "../text.ts";\n`,
  "packages/stores/src/redis/redis.ts": `export type { File as Redis } from "../file/file.ts";\n`,
  "packages/stores/src/both.ts": `export type { File } from "./file/file.ts";\nexport type { Redis } from "./redis/redis.ts";\n`,
};

/** The tables of that tree. */
const tables: Tables = {
  folderRules: {
    core: { bottom: "all", folders: { content: [], delta: ["content"] } },
    stores: { bottom: ["text"], folders: { file: [], redis: ["file"] } },
  },
  longFiles: {},
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
    rule: "a peer is optional where the table requires it",
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
    rule: "a new folder needs a row in the table, also if it imports nothing",
    plant: { "packages/core/src/extra/a.ts": `export type A = string;\n` },
    reported: "packages/core/src/extra/a.ts:1: layers.ts has no rule for core/extra",
  },
  {
    rule: "a folder imports only what its row lists, in types too",
    plant: {
      "packages/stores/src/redis/up.ts": `\nexport type Up = import("../top.ts").Top;\n`,
      "packages/stores/src/top.ts": `export type Top = string;\n`,
    },
    reported: "packages/stores/src/redis/up.ts:2: stores/redis may not import stores/top.ts",
  },
  {
    rule: "a folder does not import the index of its package",
    plant: { "packages/core/src/delta/index-user.ts": `export { fold } from "../index.ts";\n` },
    reported: "packages/core/src/delta/index-user.ts:1: core/delta may not import core/index.ts",
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

  expect(checkLayers(folder.path, tables)).toEqual([]);
});

test.each(violations)("$rule", ({ plant, reported }) => {
  using folder = temporaryFolder({ ...orderly, ...plant });

  expect(checkLayers(folder.path, tables)).toEqual([reported]);
});

test("two folders that import each other are two violations: the import, and the pair", () => {
  const plant = {
    "packages/stores/src/file/up.ts": `export type { Redis } from "../redis/redis.ts";\n`,
  };
  using folder = temporaryFolder({ ...orderly, ...plant });

  expect(checkLayers(folder.path, tables)).toEqual([
    "packages/stores/src/file/up.ts:1: stores/file may not import stores/redis",
    "packages/stores:1: file and redis import each other",
  ]);
});

test("a file that every folder uses imports none of them", () => {
  const plant = {
    "packages/core/src/ids.ts": `export type { Part as Id } from "./content/part.ts";\n`,
  };
  using folder = temporaryFolder({ ...orderly, ...plant });

  expect(checkLayers(folder.path, tables)).toEqual([
    "packages/core/src/ids.ts:1: core/ids.ts may not import core/content",
    "packages/core:1: content and ids.ts import each other",
  ]);
});

test("a table that allows two folders to import each other is a violation", () => {
  using folder = temporaryFolder(orderly);
  const folders = { file: ["redis"], redis: ["file"] };

  expect(checkTables(folder.path, { bottom: ["text"], folders })).toEqual([
    "scripts/layers.ts:1: the folders of stores form a circle: file → redis → file",
  ]);
});

test("a table that lists what is not there is a violation", () => {
  using folder = temporaryFolder(orderly);
  const folders = { file: ["gone"], redis: ["file"], left: [] };

  expect(checkTables(folder.path, { bottom: ["text", "lost"], folders })).toEqual([
    "scripts/layers.ts:1: folderRules list stores/lost.ts, which is not there",
    "scripts/layers.ts:1: folderRules list stores/left, which is not there",
    "scripts/layers.ts:1: folderRules list stores/gone, which is not there",
  ]);
});

test("a package with folders needs a table", () => {
  using folder = temporaryFolder(orderly);

  expect(checkTables(folder.path, undefined)).toEqual([
    "packages/stores/src/file/file.ts:1: layers.ts has no rule for stores/file",
    "packages/stores/src/redis/redis.ts:1: layers.ts has no rule for stores/redis",
  ]);
});

test("a helper for tests may use test tools", () => {
  const helper = {
    "packages/core/src/testing/arbitraries.ts": `export * from "fast-check";\n`,
    "packages/core/src/event/testing/arbitraries.ts": `export * from "fast-check";\n`,
  };
  using folder = temporaryFolder({ ...orderly, ...helper });

  expect(checkLayers(folder.path, tables)).toEqual([]);
});

test("shipped code imports no helper for tests", () => {
  const plant = { "packages/agent/src/a.ts": `export * from "./testing/b.ts";\n` };
  using folder = temporaryFolder({ ...orderly, ...plant });

  expect(checkLayers(folder.path, tables)).toEqual([
    "packages/agent/src/a.ts:1: agent may not import packages/agent/src/testing/b.ts, which is not shipped",
  ]);
});

test("a long test file is no violation", () => {
  const long = { "packages/core/src/long.test.ts": "// a line\n".repeat(lineLimit + 1) };
  using folder = temporaryFolder({ ...orderly, ...long });

  expect(checkLayers(folder.path, tables)).toEqual([]);
});

test("a file may be long if it is listed, and only as long as it is long", () => {
  const [long, short] = ["packages/core/src/long.ts", "packages/core/src/ids.ts"];
  using folder = temporaryFolder({ ...orderly, [long]: "// a line\n".repeat(lineLimit + 1) });

  expect(checkLayers(folder.path, { ...tables, longFiles: { [long]: "because" } })).toEqual([]);
  const longFiles = { [long]: "because", [short]: "because" };
  expect(checkLayers(folder.path, { ...tables, longFiles })).toEqual([
    "packages/core/src/ids.ts:1: no longer long; remove it from longFiles",
  ]);
});

test("the tree of this repository is in order", () => {
  const pairs = findTwoWayPairs();

  console.log(`two-way folder pairs: ${pairs.length}`);
  expect(pairs).toEqual([]);
  expect(checkLayers()).toEqual([]);
});

/** The violations of a tree if the folders of stores have these rules. */
function checkTables(top: string, stores: FolderRules | undefined): string[] {
  const { stores: _, ...others } = tables.folderRules;
  const folderRules = stores === undefined ? others : { ...others, stores };
  return checkLayers(top, { ...tables, folderRules });
}

function manifest(id: string, fields: object = {}): string {
  return JSON.stringify({ name: `@millrace/${id}`, ...fields });
}
