/**
 * Writes the public API of every package, as its built declarations state it, to
 * packages/<package>/api.md with a section for each entry, so that a change to it shows in review.
 *
 *     node scripts/api-report.ts           writes the reports
 *     node scripts/api-report.ts --check   fails if one of them would change, and shows how
 *
 * Only packages that changed since the last report are looked at: see changed-packages.ts.
 */
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changedPackages, storeHashes } from "./changed-packages.ts";
import { execute } from "./execute.ts";
import { temporaryFolder } from "./temporary.ts";
import { type Entry, type Package, publicEntries, report, root } from "./workspace.ts";

/** The report of one package: where it was written, and where it belongs. */
interface Report {
  readonly made: string;
  readonly kept: string;
}

/** Makes the report of one package. Needs the built declarations. */
function makeReport(owner: Package, workspace: string): Report {
  const { id, folder, manifest } = owner;
  const sections = publicEntries(manifest).map((entry) => {
    const specifier = entry.name === "index" ? manifest.name : `${manifest.name}/${entry.name}`;
    return `## \`${specifier}\`\n\n${declarationsOf(owner, entry, join(workspace, id))}`;
  });
  const title = `# The public API of \`${manifest.name}\`\n\nWritten by \`npm run api\`: do not edit.\n`;
  const made = join(workspace, `${id}.md`);
  writeFileSync(made, [title, ...sections].join("\n"));
  return { made, kept: join(folder, "api.md") };
}

/** The declarations of one entry, as a block of code. */
function declarationsOf({ id, folder }: Package, { name, types }: Entry, scratch: string): string {
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: join(root, folder, "package.json"),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: join(root, folder),
      mainEntryPointFilePath: join(root, folder, types),
      newlineKind: "lf",
      compiler: { overrideTsconfig: compilerOptions },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: scratch,
        reportTempFolder: join(scratch, "draft"),
      },
      messages: {
        extractorMessageReporting: {
          default: { logLevel: ExtractorLogLevel.Warning, addToApiReportFile: true },
          // Every export is public; there is no other release stage.
          "ae-missing-release-tag": { logLevel: ExtractorLogLevel.None },
          // The warning includes line numbers, which change often; reviewers read the comments
          // themselves.
          "ae-undocumented": { logLevel: ExtractorLogLevel.None },
          // An entry names what programs write down. What those types are made of is found through them, or in
          // another entry.
          "ae-forgotten-export": { logLevel: ExtractorLogLevel.None },
        },
      },
    },
  });
  mkdirSync(scratch, { recursive: true });
  const { errorCount } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => (message.handled = message.logLevel !== ExtractorLogLevel.Error),
  });
  if (errorCount > 0) throw new Error(`no report of ${id}/${name}: see above`);
  const text = readFileSync(config.reportFilePath, "utf8");
  // What stands before the block is the same for every entry.
  return text.slice(text.indexOf("```ts"));
}

const compilerOptions = {
  compilerOptions: {
    target: "es2024",
    lib: ["es2024", "esnext.disposable", "dom", "dom.iterable"],
    types: [],
    module: "nodenext",
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
  },
};

/** Compares the committed reports with the new ones. */
async function checkReports(reports: readonly Report[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { made, kept } of reports) {
    if (!existsSync(join(root, kept))) {
      problems.push(`${kept} is missing: run npm run api`);
      continue;
    }
    const { ok, output } = await execute(["git", "diff", "--no-index", "--", kept, made]);
    if (!ok) problems.push(`${kept} is not up to date: run npm run api\n${output}`);
  }
  return problems;
}

function writeReports(reports: readonly Report[]): void {
  for (const { made, kept } of reports) copyFileSync(made, join(root, kept));
}

using workspace = temporaryFolder();
const changed = changedPackages();
const reports = changed.map((owner) => makeReport(owner, workspace.path));
const names = changed.map(({ id }) => id).join(", ");
if (process.argv.includes("--check")) {
  const problems = await checkReports(reports);
  const hint =
    names === "" ? "" : `; npm run api stores that ${names} changed and the report did not`;
  report(problems, `api: all reports are up to date${hint}`);
} else {
  writeReports(reports);
  storeHashes();
  console.log(names === "" ? "api: nothing has changed" : `api: wrote the reports of ${names}`);
}
