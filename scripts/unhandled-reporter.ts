/**
 * A reporter that writes the errors which no test caught, as JSON, to the file that UNHANDLED_ERRORS names.
 * A run fails by them with all of its tests green, and the other reporters' files do not have them.
 */
import { writeFileSync } from "node:fs";
import type { Reporter } from "vitest/node";

export default class UnhandledReporter implements Reporter {
  onTestRunEnd(...[, errors]: Parameters<NonNullable<Reporter["onTestRunEnd"]>>): void {
    const file = process.env["UNHANDLED_ERRORS"];
    if (file === undefined) return;
    const told = errors.map(({ name, message, stack, ...more }) => {
      const during = [more["VITEST_TEST_PATH"], more["VITEST_TEST_NAME"]].filter(
        (each) => typeof each === "string",
      );
      return [...during, stack ?? `${name}: ${message}`].join("\n");
    });
    writeFileSync(file, JSON.stringify(told));
  }
}
