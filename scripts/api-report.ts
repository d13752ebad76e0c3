/**
 * Writes the public API of every package entry, as its built declarations state it, to
 * packages/<package>/api/<entry>.api.md, so that a change to it shows in review.
 *
 *     node scripts/api-report.ts           writes the reports
 *     node scripts/api-report.ts --check   fails if one of them would change, and shows how
 */
import { Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";
import { copyFileSync, existsSync, globSync, mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "./temporary.ts";
import { type Package, execute, publicEntries, publicPackages, report, root } from "./workspace.ts";

/** The reports of one package: where each was written, and where it belongs. */
interface Report {
  readonly made: string;
  readonly kept: string;
}

/** Makes the reports of one package in `folder`. Needs the built declarations. */
function makeReports({ id, folder, manifest }: Package, workspace: string): Report[] {
  return publicEntries(manifest).map(({ name, types }) => {
    const reportFolder = join(workspace, id);
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
          reportFolder,
          reportTempFolder: join(reportFolder, "draft"),
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
    mkdirSync(reportFolder, { recursive: true });
    const { errorCount } = Extractor.invoke(config, {
      localBuild: true,
      messageCallback: (message) =>
        (message.handled = message.logLevel !== ExtractorLogLevel.Error),
    });
    if (errorCount > 0) throw new Error(`no report of ${id}/${name}: see above`);
    return { made: config.reportFilePath, kept: join(folder, "api", `${name}.api.md`) };
  });
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

/** Compares the committed reports with the new ones. A report of a removed entry is a change. */
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
  return [...problems, ...strayReports(reports).map((kept) => `${kept} belongs to no entry`)];
}

function writeReports(reports: readonly Report[]): void {
  for (const { made, kept } of reports) {
    mkdirSync(dirname(join(root, kept)), { recursive: true });
    copyFileSync(made, join(root, kept));
  }
  for (const kept of strayReports(reports)) rmSync(join(root, kept));
}

function strayReports(reports: readonly Report[]): string[] {
  const known = new Set(reports.map(({ kept }) => kept));
  return globSync("packages/*/api/*.api.md", { cwd: root }).filter((kept) => !known.has(kept));
}

using workspace = temporaryFolder();
const reports = publicPackages().flatMap((owner) => makeReports(owner, workspace.path));
if (process.argv.includes("--check")) {
  report(await checkReports(reports), `api: ${reports.length} reports are up to date`);
} else {
  writeReports(reports);
  console.log(`api: wrote ${reports.map(({ kept }) => kept).join(", ")}`);
}
