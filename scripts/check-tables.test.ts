import { expect, test } from "vitest";
import { promises } from "../packages/conformance/promises.ts";
import { checkTables, missingTests } from "./check-tables.ts";
import { packageRules } from "./layers.ts";

const document = (name: string, table: string): string =>
  `Before\n\n<!-- table: ${name} -->\n${table}<!-- end of table -->\n\nAfter\n`;

test("a stale table is reported, and the new text has the table of the data", () => {
  const { text, problems } = checkTables("README.md", document("promises", "| old |\n"));

  expect(problems).toEqual(["README.md: the table promises is stale: run npm run readme"]);
  for (const { id, promise, limits } of promises) {
    expect(text).toContain(`| ${id} | ${promise} |`);
    expect(text).toContain(`| ${limits} |`);
  }
  expect(text).toMatch(/^Before\n[^]*\nAfter\n$/);
  expect(checkTables("README.md", text)).toEqual({ text, problems: [] });
});

test("each package of the layers has a row with what it may import", () => {
  const { text } = checkTables("ARCHITECTURE.md", document("packages", ""));

  for (const name of Object.keys(packageRules)) expect(text).toContain(`\n| \`${name}\` | `);
  expect(text).toContain("| `server` | `core`, `agent` | `jose` |");
});

test("a table that is not there is reported", () => {
  expect(checkTables("README.md", document("prices", "")).problems).toEqual([
    "README.md: there is no table prices",
  ]);
});

test("a test that the security table names and that is not there is reported", () => {
  const tests = ["scripts/check-tables.test.ts", "scripts/no-such.test.ts"];

  expect(missingTests([{ promise: "P7", tests }])).toEqual([
    expect.stringContaining("P7 that is not there: scripts/no-such.test.ts"),
  ]);
});

test("a mechanism without a test is shown as one", () => {
  const { text } = checkTables("docs/security.md", document("security", ""));

  expect(text).toMatch(/^\| P28 \|.*\| none yet \|$/m);
  expect(text).toMatch(/^\| P14 \|.*\| `tests\/crash\/crash\.test\.ts` \|$/m);
});
