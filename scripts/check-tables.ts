/**
 * Makes sure that tables in documents are what the data is that they show. A table stands between
 * two comments:
 *
 *     <!-- table: promises -->
 *     | promise | in plain words | …
 *     <!-- end of table -->
 *
 *     node scripts/check-tables.ts           fails if a table differs from its data
 *     node scripts/check-tables.ts --write   refreshes the tables
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promises } from "../packages/conformance/promises.ts";
import { securityRows } from "../packages/conformance/security.ts";
import { agUiGaps } from "../packages/dialects/src/ag-ui/encode/gaps.ts";
import { aiSdkGaps } from "../packages/dialects/src/ai-sdk/encode/gaps.ts";
import { openaiGaps } from "../packages/dialects/src/openai/encode/gaps.ts";
import { limitRows } from "./limit-rows.ts";
import { folderRules, packageRules } from "./layers.ts";
import { publicEntries, readManifest, report, root } from "./workspace.ts";

/** A document as it should be, and what is wrong with it as it is. */
export interface CheckedTables {
  readonly text: string;
  readonly problems: readonly string[];
}

export type Row = readonly string[];

/** Tables by their names, each as rows of cells. The first row is the heading. */
export type Tables = Readonly<Record<string, () => readonly Row[]>>;

export const tables: Tables = {
  promises: () => [
    ["promise", "in plain words", "holds so far", "limits"],
    ...promises.map(({ id, promise, holds, limits }) => [id, promise, holds, limits]),
  ],
  security: () => [
    ["promise", "about", "mechanism", "test"],
    ...securityRows.map(({ promise, about, mechanism, tests }) => [
      promise,
      about,
      mechanism,
      tests.length === 0 ? "none yet" : tests.map((file) => code(file)).join(", "),
    ]),
  ],
  "ag-ui": () => [
    ["what", "AG-UI", "what a page gets instead"],
    ...agUiGaps.map(({ about, versions, instead }) => [about, versions, instead]),
  ],
  "ai-sdk": () => [
    ["what", "AI SDK", "what a page gets instead"],
    ...aiSdkGaps.map(({ about, versions, instead }) => [about, versions, instead]),
  ],
  openai: () => [
    ["what", "format", "what a client gets instead"],
    ...openaiGaps.map(({ about, format, instead }) => [about, format, instead]),
  ],
  limits: () => [["limit", "bounds", "default", "above it"], ...limitRows()],
  packages: () => [
    ["package", "may import", "third-party at run time", "entries"],
    ...Object.keys(packageRules).map((name) => packageRow(name)),
  ],
  folders: () => [
    ["package", "folder", "may import"],
    ...Object.entries(folderRules).flatMap(([name, { folders }]) =>
      Object.entries(folders).map(([folder, others]) => [
        code(name),
        code(`${folder}/`),
        others.length === 0 ? "nothing" : others.map((other) => code(other)).join(", "),
      ]),
    ),
  ],
};

function packageRow(name: string): Row {
  const { packages, dependencies, peers, peersAreOptional, node } =
    packageRules[name] ?? none(name);
  const peerKind = peersAreOptional ? "optional peers" : "peers";
  const outside = [
    ...dependencies.map((other) => code(other)),
    ...(peers.length === 0 ? [] : [`${peerKind}: ${peers.map((peer) => code(peer)).join(", ")}`]),
    ...(node ? [] : ["nothing of Node"]),
  ];
  const manifest = join(root, "packages", name, "package.json");
  const entries = existsSync(manifest)
    ? publicEntries(readManifest(manifest)).map((entry) => code(entry.name))
    : ["planned"];
  return [
    code(name),
    packages.length === 0 ? "nothing" : packages.map((other) => code(other)).join(", "),
    outside.length === 0 ? "none" : outside.join("; "),
    entries.join(", "),
  ];
}

function none(name: string): never {
  throw new Error(`layers.ts has no row for ${name}`);
}

function code(text: string): string {
  return `\`${text}\``;
}

function print([heading = [], ...rows]: readonly Row[]): string {
  const line = (cells: Row): string => `| ${cells.join(" | ")} |\n`;
  return [heading, heading.map(() => "---"), ...rows].map((row) => line(row)).join("");
}

const places = /(<!-- table: (\S+) -->\n)([^]*?)(<!-- end of table -->)/g;

/** Compares every table of a document with its data. */
export function checkTables(
  document: string,
  before: string,
  known: Tables = tables,
): CheckedTables {
  const problems: string[] = [];
  const text = before.replaceAll(
    places,
    (_, begin: string, name: string, old: string, end: string) => {
      const rows = known[name];
      if (rows === undefined) problems.push(`${document}: there is no table ${name}`);
      const table = rows === undefined ? old : print(rows());
      if (table !== old)
        problems.push(`${document}: the table ${name} is stale: run npm run readme`);
      return `${begin}${table}${end}`;
    },
  );
  return { text, problems };
}

/** The tests of the security table that are not there. */
export function missingTests(
  rows: readonly Pick<(typeof securityRows)[number], "promise" | "tests">[],
): readonly string[] {
  return rows.flatMap(({ promise, tests }) =>
    tests
      .filter((file) => !existsSync(join(root, file)))
      .map((file) => `the security table names a test of ${promise} that is not there: ${file}`),
  );
}

if (import.meta.main) {
  const documents = [
    "ARCHITECTURE.md",
    "docs/dialects.md",
    "docs/promises.md",
    "docs/security.md",
    "packages/server/README.md",
  ];
  const checked = (document: string): CheckedTables =>
    checkTables(document, readFileSync(join(root, document), "utf8"));
  if (process.argv.includes("--write")) {
    for (const document of documents) writeFileSync(join(root, document), checked(document).text);
  }
  const texts = documents.map((document) => readFileSync(join(root, document), "utf8")).join("");
  const lost = Object.keys(tables).filter((name) => !texts.includes(`<!-- table: ${name} -->`));
  report(
    [
      ...documents.flatMap((document) => checked(document).problems),
      ...lost.map((name) => `no document shows the table ${name}`),
      ...missingTests(securityRows),
    ],
    `tables: ${Object.keys(tables).length} are what their data is`,
  );
}
