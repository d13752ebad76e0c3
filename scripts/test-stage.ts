/** Runs the tests of one project of `vitest.config.ts` for `ci.ts`, and keeps what it prints at the end. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { CiReport } from "./ci-reporter.ts";
import { temporaryFolder } from "./temporary.ts";
import { type Tally, root } from "./workspace.ts";

/** What to run: all tests of a project, or those whose path contains one of the words. */
export interface TestStage {
  readonly project: string;
  readonly words?: readonly string[];
  /** Whether random tests have the size of `npm run nightly`: see tests/kit/runs.ts. */
  readonly nightly: boolean;
}

/** What is known of all test stages so far. */
export class TestStages {
  /** Failed tests with their messages, and errors outside of tests. */
  readonly failures: string[] = [];
  readonly #files: CiReport["files"][number][] = [];

  run({ project, words = [], nightly }: TestStage): Tally {
    using folder = temporaryFolder();
    const file = join(folder.path, "tests.json");
    const extra = join(folder.path, "extra.json");
    const reporters = ["default", "json", "./scripts/ci-reporter.ts"];
    const options = reporters.map((name) => `--reporter=${name}`);
    const { status } = spawnSync(
      "npm",
      ["test", "--", `--project=${project}`, ...words, ...options, `--outputFile.json=${file}`],
      {
        cwd: root,
        stdio: "inherit",
        env: { ...process.env, CI_REPORT: extra, ...(nightly ? { NIGHTLY: "1" } : {}) },
      },
    );
    if (existsSync(extra)) {
      const { errors, files } = JSON.parse(readFileSync(extra, "utf8")) as CiReport;
      this.failures.push(...errors.map((error) => `${project}, by no test: ${shorten(error)}`));
      this.#files.push(...files);
    }
    if (!existsSync(file)) return { passed: 0, failed: 1 };
    const result = JSON.parse(readFileSync(file, "utf8")) as VitestResult;
    const { numPassedTests: passed, numFailedTests: failed } = result;
    this.failures.push(...failedTests(result));
    // An error may come outside of tests.
    return { passed, failed: status === 0 ? failed : Math.max(failed, 1) };
  }

  /** A line for each of the slowest files, with its seconds. */
  slowest(count: number): readonly string[] {
    return this.#files
      .toSorted((left, right) => right.seconds - left.seconds)
      .slice(0, count)
      .map(({ file, seconds }) => `${seconds.toFixed(1).padStart(7)} s  ${file}`);
  }
}

interface VitestResult {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

/**
 * The failed tests with their messages, printed again at the end: often only the end of a long log
 * is kept.
 */
function failedTests({ testResults }: VitestResult): string[] {
  return testResults
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, message, assertionResults }) => {
      const failed = assertionResults.filter(({ status }) => status === "failed");
      const reasons =
        failed.length === 0
          ? [message]
          : failed.map((test) => `${test.fullName}\n${test.failureMessages?.join("\n") ?? ""}`);
      return reasons.map((reason) => `${relative(root, name)}: ${shorten(reason)}`);
    });
}

function shorten(reason: string): string {
  return reason.split("\n").slice(0, 12).join("\n    ").slice(0, 2000);
}
