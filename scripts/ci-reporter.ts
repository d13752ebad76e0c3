/**
 * A reporter that writes what `ci.ts` prints at the end and vitest's own JSON lacks, to the file that
 * CI_REPORT names: errors that no test caught, by which a run fails with all of its tests green, and the
 * seconds of each test file with its imports and hooks.
 */
import { writeFileSync } from "node:fs";
import type { Reporter } from "vitest/node";

export interface CiReport {
  readonly errors: readonly string[];
  readonly files: readonly { readonly file: string; readonly seconds: number }[];
}

export default class CiReporter implements Reporter {
  onTestRunEnd(...[modules, errors]: Parameters<NonNullable<Reporter["onTestRunEnd"]>>): void {
    const path = process.env["CI_REPORT"];
    if (path === undefined) return;
    const files = modules.map((module) => {
      const { prepareDuration, setupDuration, collectDuration, duration } = module.diagnostic();
      const all = prepareDuration + setupDuration + collectDuration + duration;
      return { file: module.relativeModuleId, seconds: all / 1_000 };
    });
    const report: CiReport = { errors: errors.map(describeError), files };
    writeFileSync(path, JSON.stringify(report));
  }
}

function describeError(error: {
  readonly name?: string;
  readonly message: string;
  readonly stack?: string | undefined;
  readonly [key: string]: unknown;
}): string {
  const during = [error["VITEST_TEST_PATH"], error["VITEST_TEST_NAME"]].filter(
    (each) => typeof each === "string",
  );
  return [...during, error.stack ?? `${error.name}: ${error.message}`].join("\n");
}
